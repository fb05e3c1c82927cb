"""Each reported fault, by its number, has tests; they run wherever it could show.

A fault is of a kind of program, and is tested as that kind: where its docstring names a report, a test runs at the
sizes at which such programs go wrong, on the CPU (compiled, interpreted) and as CUDA (interpreted, compiled, on a GPU).
"""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType

import pytest

ENTRIES: dict[int, str] = {
    # split, fuse, compute_at
    1: "a_bounds: a_reduction_in_a_ragged_loop, a_reduction_in_a_ragged_loop_on_cuda",
    3: "a_bounds: stages_split_by_factors_that_do_not_divide_each_other;"
    " a_blocks: stages_split_by_factors_that_do_not_divide_each_other_on_cuda",
    5: "a_bounds: a_producer_under_fused_and_split_loops, the_buffer_under_fused_loops_is_no_larger_than_the_part;"
    " a_blocks: a_producer_under_fused_loops_of_blocks",
    7: "a_bounds: a_factor_beyond_the_extent; a_blocks: a_factor_beyond_the_extent_of_threads",
    9: "a_bounds: a_stage_in_its_own_loop, two_stages_in_each_others_loops",
    11: "a_bounds: a_producer_under_a_split_reduction; a_blocks: a_producer_under_a_reduction_of_threads",
    13: "a_bounds: a_sum_whose_length_is_data, a_cooperative_copy_under_a_loop_of_unknown_length,"
    " a_cooperative_copy_under_a_loop_whose_length_is_data; a_blocks: a_cached_tile_under_a_loop_of_unknown_length",
    15: "a_bounds: a_modulo_of_a_fused_loop, a_modulo_of_a_fused_loop_over_threads",
    17: "a_bounds: a_ragged_matmul_of_tiles, a_ragged_matmul_of_tiles_on_cuda;"
    " a_blocks: a_ragged_matmul_of_cached_tiles, a_ragged_matmul_of_cached_tiles_on_cuda",
    # division, simplifier, printing
    19: "b_division: a_remainder_compared, a_remainder_compared_on_cuda",
    21: "b_division: lanes_that_cross_the_modulus, lanes_that_cross_the_modulus_on_cuda",
    23: "b_division: the_guard_of_a_length_with_a_remainder, the_tail_of_a_length_with_a_remainder,"
    " the_interval_of_a_remainder",
    25: "b_division: division_by_the_constant_zero, a_reduce_axis_that_takes_zero_as_a_divisor,"
    " a_divisor_that_is_zero_only_in_the_branch_not_taken,"
    " a_divisor_that_is_zero_only_in_the_branch_not_taken_on_cuda",
    27: "b_constants: parentheses, parentheses_in_cuda",
    29: "b_division: unsigned_division, unsigned_division_by_a_constant, unsigned_division_on_cuda",
    31: "b_constants: constants_fold_as_they_run, constants_fold_as_they_run_on_cuda, a_literal_that_does_not_fit,"
    " a_literal_that_does_not_fit_the_other_operand",
    33: "b_division: a_convolution_over_padding_over_dilation, a_convolution_over_padding_over_dilation_on_cuda",
    35: "b_division: a_quotient_of_a_multiple_with_a_negative_part,"
    " a_quotient_of_a_multiple_with_a_negative_part_on_cuda",
    # big indices, 64 bits
    37: "c_wide: a_temporary_of_more_bits_than_an_int32, a_temporary_of_more_bits_than_an_int32_on_cuda,"
    " offsets_beyond_32_bits, offsets_beyond_32_bits_on_cuda, offsets_beyond_32_bits_on_a_gpu",
    39: "c_wide: axes_of_64_bits, axes_of_64_bits_on_cuda, a_sum_over_an_axis_of_64_bits,"
    " a_sum_over_an_axis_of_64_bits_on_cuda",
    41: "c_wide: constants_of_64_bits, constants_of_64_bits_on_cuda",
    # vectors, unrolled loops, guards
    42: "d_lanes: a_reduce_axis_as_lanes_or_threads; d_parts: partial_results_in_lanes_or_threads",
    43: "d_lanes: a_reduce_axis_as_lanes_or_threads;"
    " d_parts: partial_results_in_lanes_or_threads, a_parallel_reduction_that_updates_atomically",
    45: "d_lanes: the_tail_of_a_gather, the_tail_of_a_gather_on_cuda; d_parts: a_scatter_with_a_tail,"
    " a_scatter_as_a_reduction, a_scatter_as_a_reduction_on_cuda",
    47: "d_lanes: small_integers_in_lanes, small_integers_in_lanes_on_cuda, a_broadcast_constant, conversions_in_lanes,"
    " conversions_in_lanes_on_cuda",
    49: "d_lanes: lanes_that_are_no_power_of_two; d_parts: lanes_that_are_no_power_of_two_on_cuda",
    51: "d_lanes: a_lazy_read_inside_an_eager_choice, a_lazy_read_inside_an_eager_choice_on_cuda",
    53: "d_lanes: an_unroll_of_very_many_iterations, unrolls_inside_one_another, an_unroll_with_a_tail;"
    " d_parts: an_unroll_of_very_many_iterations_on_cuda, an_unroll_with_a_tail_on_cuda",
    55: "d_lanes: a_loop_of_unknown_length_written_out, a_region_of_unknown_length_unrolled",
    # reductions that threads share out
    57: "e_reductions: no_lane_without_a_value_is_read",
    59: "e_reductions: mean_over_positions",
    61: "e_reductions: every_thread_has_the_result, softmax",
    63: "e_reductions: whole_and_parts_of_warps",
    65: "e_reductions: wide_integers",
    67: "e_reductions: a_reduction_onto_what_is_there",
    # barriers, races, tiles fetched ahead, storage
    69: "f_blocks: a_neighbours_element_in_a_ragged_block, a_write_by_some_threads_read_by_others,"
    " a_stage_inside_the_loop_of_a_thread; f_pipelines: an_exchange_in_a_branch_of_one_loop, an_exchange_in_a_branch,"
    " an_exchange_in_a_branch_of_statements",
    71: "f_blocks: a_shared_tile_read_then_overwritten; f_threads: two_tiles_read_then_overwritten,"
    " copies_in_any_memory",
    73: "f_pipelines: two_pipelined_loops_of_one_kernel, a_pipelined_tile_read_after_its_loop",
    75: "f_threads: copies_of_what_an_intrinsic_fills; f_pipelines: copies_that_an_instruction_fills,"
    " copies_that_an_instruction_fills_on_cuda",
    77: "f_blocks: two_accumulators_of_one_thread; f_pipelines: two_accumulators_of_one_loop",
    78: "f_blocks: a_local_buffer_read_by_another_thread;"
    " f_pipelines: a_neighbours_registers_are_refused, a_neighbours_element",
    79: "f_blocks: shared_buffers_that_live_at_once; f_threads: shared_memory_beyond_48_kib",
    80: "f_blocks: blocks_inside_anothers_blocks",
    81: "f_blocks: two_loops_of_different_length_on_one_thread_axis",
    83: "f_blocks: thread_axes_in_any_order",
    # partial results, pairs, copies, what is inlined
    85: "g_outputs: a_pair_cannot_be_inlined; g_caches: a_pair_cached_together, a_pair_cached_together_on_cuda",
    87: "g_outputs: the_first_of_equal_values_wins, the_first_of_equal_values_wins_on_cuda;"
    " g_caches: the_first_of_equal_values_wins_between_partial_results,"
    " the_first_of_equal_values_wins_between_threads; e_reductions: lowest_index_wins",
    89: "g_outputs: reduce_axes_whose_extents_depend_on_the_element,"
    " reduce_axes_whose_extents_depend_on_the_element_on_cuda, the_pool_of_twelve_numbers",
    91: "g_outputs: a_sum_cannot_be_inlined",
    93: "g_caches: copies_in_any_order, copies_in_any_order_on_cuda",
    95: "g_outputs: a_sum_read_at_two_places_once_inlined, a_sum_read_at_two_places_once_inlined_on_cuda;"
    " g_caches: partial_results_of_a_sum_read_at_two_places",
    # scans
    111: "i_scans: a_stage_after_a_scan, a_stage_after_a_scan_on_cuda",
    113: "i_scans: a_plain_scan_has_no_guard",
    115: "i_scans: prefix_sums_of_a_part, prefix_sums_of_a_part_on_cuda, prefix_sums_of_a_view",
    # empty, without dimensions, out of range
    117: "j_empty: a_matmul_over_nothing, a_matmul_over_nothing_of_symbolic_size, a_matmul_over_nothing_on_cuda,"
    " a_reduction_over_nothing",
    119: "j_empty: an_empty_tensor, an_empty_tensor_on_cuda",
    121: "j_empty: tensors_without_dimensions, tensors_without_dimensions_on_cuda",
    122: "j_empty: a_read_beyond_a_small_tensor, reads_that_reach_the_ends, reads_outside,"
    " a_condition_that_leaves_too_much",
    # names, depth
    133: "l_names: names, names_in_cuda, the_name_of_a_function, sizes_and_axes_of_one_name",
    135: "m_depth: a_chain_of_reshapes, a_chain_of_reshapes_on_cuda, the_code_of_reshapes_grows_with_their_number,"
    " nested_choices, a_transpose_of_twelve_dimensions, ragged_loops_inside_one_another, a_thousand_stages,"
    " a_sum_of_five_thousand_terms",
}
"""Tests of a fault: "module: test, test; module: test", without their prefix test_."""

REFUSED = {9, 55, 80, 91}
"""Faults whose only right answer is a refusal."""

ON_THE_CPU_ONLY = {
    42: "a loop of lanes",
    43: "a loop of a CPU's threads; what threads of a GPU share out is tested with 57 to 67",
    113: "asks what the first program looks like",
    122: "refused before there is a target",
}
ON_CUDA_ONLY = {
    **dict.fromkeys((57, 59, 61, 63, 65, 67), "threads that share a reduction out; the interpreter runs them as loops"),
    **dict.fromkeys((69, 71, 73, 78, 79, 81, 83), "what the threads of a block do to each other"),
}
PLACES = {"cpu": {"cpu"}, "cuda": {"cuda"}, "threads": {"cuda"}, "refused": set[str]()}
"""Where a test runs, by the fixture that it takes."""


def tests_of(entry: int) -> list[tuple[ModuleType, str]]:
    found = []
    for part in ENTRIES[entry].split(";"):
        file, _, names = part.partition(":")
        module = importlib.import_module(f"tests.cases.test_{file.strip()}")
        found += [(module, f"test_{name.strip()}") for name in names.split(",")]
    return found


def places_of(module: ModuleType, name: str) -> set[str]:
    parameters = inspect.signature(getattr(module, name)).parameters
    return set().union(*(where for fixture, where in PLACES.items() if fixture in parameters))


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_fault_is_tested_where_it_could_show(entry):
    places = set[str]().union(*(places_of(module, name) for module, name in tests_of(entry)))
    wanted = set[str]()
    if entry not in REFUSED:
        wanted = {"cpu", "cuda"} - ({"cuda"} if entry in ON_THE_CPU_ONLY else set())
        wanted -= {"cpu"} if entry in ON_CUDA_ONLY else set()
    assert wanted <= places, f"{entry}: {sorted(wanted - places)} is missing"


def test_each_fault_has_an_entry():
    """Numbers are odd, but for those that came later."""
    later = {42, 78, 80, 122}
    of_other_groups = set(range(97, 110)) | set(range(123, 133))
    assert set(ENTRIES) == (set(range(1, 136, 2)) | later) - of_other_groups
