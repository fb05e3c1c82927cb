"""Each reported fault, by its number, has tests; they run wherever it could show.

A fault is of a kind of program and is tested as that kind: at the sizes at which such programs go wrong, on the CPU
(compiled, interpreted) and as CUDA (interpreted, compiled, on a GPU). The number stands for a report that the docstring
of a test names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from tests.cases import test_a_blocks as a_blocks
from tests.cases import test_a_bounds as a_bounds
from tests.cases import test_b_constants as b_constants
from tests.cases import test_b_division as b_division
from tests.cases import test_c_wide as c_wide
from tests.cases import test_d_lanes as d_lanes
from tests.cases import test_d_parts as d_parts
from tests.cases import test_e_reductions as e_reductions
from tests.cases import test_f_blocks as f_blocks
from tests.cases import test_f_pipelines as f_pipelines
from tests.cases import test_f_threads as f_threads
from tests.cases import test_g_caches as g_caches
from tests.cases import test_g_outputs as g_outputs
from tests.cases import test_i_scans as i_scans
from tests.cases import test_j_empty as j_empty
from tests.cases import test_l_names as l_names
from tests.cases import test_m_depth as m_depth

TESTS: dict[int, tuple[Callable[..., None], ...]] = {
    # split, fuse, compute_at
    1: (a_bounds.test_a_reduction_in_a_ragged_loop, a_bounds.test_a_reduction_in_a_ragged_loop_on_cuda),
    3: (
        a_bounds.test_stages_split_by_factors_that_do_not_divide_each_other,
        a_blocks.test_stages_split_by_factors_that_do_not_divide_each_other_on_cuda,
    ),
    5: (
        a_bounds.test_a_producer_under_fused_and_split_loops,
        a_bounds.test_the_buffer_under_fused_loops_is_no_larger_than_the_part,
        a_blocks.test_a_producer_under_fused_loops_of_blocks,
    ),
    7: (a_bounds.test_a_factor_beyond_the_extent, a_blocks.test_a_factor_beyond_the_extent_of_threads),
    9: (a_bounds.test_a_stage_in_its_own_loop, a_bounds.test_two_stages_in_each_others_loops),
    11: (a_bounds.test_a_producer_under_a_split_reduction, a_blocks.test_a_producer_under_a_reduction_of_threads),
    13: (
        a_bounds.test_a_sum_whose_length_is_data,
        a_bounds.test_a_cooperative_copy_under_a_loop_of_unknown_length,
        a_bounds.test_a_cooperative_copy_under_a_loop_whose_length_is_data,
        a_blocks.test_a_cached_tile_under_a_loop_of_unknown_length,
    ),
    15: (a_bounds.test_a_modulo_of_a_fused_loop, a_bounds.test_a_modulo_of_a_fused_loop_over_threads),
    17: (
        a_bounds.test_a_ragged_matmul_of_tiles,
        a_bounds.test_a_ragged_matmul_of_tiles_on_cuda,
        a_blocks.test_a_ragged_matmul_of_cached_tiles,
        a_blocks.test_a_ragged_matmul_of_cached_tiles_on_cuda,
    ),
    # division, simplifier, printing
    19: (b_division.test_a_remainder_compared, b_division.test_a_remainder_compared_on_cuda),
    21: (b_division.test_lanes_that_cross_the_modulus, b_division.test_lanes_that_cross_the_modulus_on_cuda),
    23: (
        b_division.test_the_guard_of_a_length_with_a_remainder,
        b_division.test_the_tail_of_a_length_with_a_remainder,
        b_division.test_the_interval_of_a_remainder,
    ),
    25: (
        b_division.test_division_by_the_constant_zero,
        b_division.test_a_reduce_axis_that_takes_zero_as_a_divisor,
        b_division.test_a_divisor_that_is_zero_only_in_the_branch_not_taken,
        b_division.test_a_divisor_that_is_zero_only_in_the_branch_not_taken_on_cuda,
    ),
    27: (b_constants.test_parentheses, b_constants.test_parentheses_in_cuda),
    29: (
        b_division.test_unsigned_division,
        b_division.test_unsigned_division_by_a_constant,
        b_division.test_unsigned_division_on_cuda,
    ),
    31: (
        b_constants.test_constants_fold_as_they_run,
        b_constants.test_constants_fold_as_they_run_on_cuda,
        b_constants.test_a_literal_that_does_not_fit,
        b_constants.test_a_literal_that_does_not_fit_the_other_operand,
    ),
    33: (
        b_division.test_a_convolution_over_padding_over_dilation,
        b_division.test_a_convolution_over_padding_over_dilation_on_cuda,
    ),
    35: (
        b_division.test_a_quotient_of_a_multiple_with_a_negative_part,
        b_division.test_a_quotient_of_a_multiple_with_a_negative_part_on_cuda,
    ),
    # big indices, 64 bits
    37: (
        c_wide.test_a_temporary_of_more_bits_than_an_int32,
        c_wide.test_a_temporary_of_more_bits_than_an_int32_on_cuda,
        c_wide.test_offsets_beyond_32_bits,
        c_wide.test_offsets_beyond_32_bits_on_cuda,
        c_wide.test_offsets_beyond_32_bits_on_a_gpu,
    ),
    39: (
        c_wide.test_axes_of_64_bits,
        c_wide.test_axes_of_64_bits_on_cuda,
        c_wide.test_a_sum_over_an_axis_of_64_bits,
        c_wide.test_a_sum_over_an_axis_of_64_bits_on_cuda,
    ),
    41: (c_wide.test_constants_of_64_bits, c_wide.test_constants_of_64_bits_on_cuda),
    # vectors, unrolled loops, guards
    42: (d_lanes.test_a_reduce_axis_as_lanes_or_threads, d_parts.test_partial_results_in_lanes_or_threads),
    43: (
        d_lanes.test_a_reduce_axis_as_lanes_or_threads,
        d_parts.test_partial_results_in_lanes_or_threads,
        d_parts.test_a_parallel_reduction_that_updates_atomically,
    ),
    45: (
        d_lanes.test_the_tail_of_a_gather,
        d_lanes.test_the_tail_of_a_gather_on_cuda,
        d_parts.test_a_scatter_with_a_tail,
        d_parts.test_a_scatter_as_a_reduction,
        d_parts.test_a_scatter_as_a_reduction_on_cuda,
    ),
    47: (
        d_lanes.test_small_integers_in_lanes,
        d_lanes.test_small_integers_in_lanes_on_cuda,
        d_lanes.test_a_broadcast_constant,
        d_lanes.test_conversions_in_lanes,
        d_lanes.test_conversions_in_lanes_on_cuda,
    ),
    49: (d_lanes.test_lanes_that_are_no_power_of_two, d_parts.test_lanes_that_are_no_power_of_two_on_cuda),
    51: (d_lanes.test_a_lazy_read_inside_an_eager_choice, d_lanes.test_a_lazy_read_inside_an_eager_choice_on_cuda),
    53: (
        d_lanes.test_an_unroll_of_very_many_iterations,
        d_lanes.test_unrolls_inside_one_another,
        d_lanes.test_an_unroll_with_a_tail,
        d_parts.test_an_unroll_of_very_many_iterations_on_cuda,
        d_parts.test_an_unroll_with_a_tail_on_cuda,
    ),
    55: (d_lanes.test_a_loop_of_unknown_length_written_out, d_lanes.test_a_region_of_unknown_length_unrolled),
    # reductions that threads share out
    57: (e_reductions.test_no_lane_without_a_value_is_read,),
    59: (e_reductions.test_mean_over_positions,),
    61: (e_reductions.test_every_thread_has_the_result, e_reductions.test_softmax),
    63: (e_reductions.test_whole_and_parts_of_warps,),
    65: (e_reductions.test_wide_integers,),
    67: (e_reductions.test_a_reduction_onto_what_is_there,),
    # barriers, races, tiles fetched ahead, storage
    69: (
        f_blocks.test_a_neighbours_element_in_a_ragged_block,
        f_blocks.test_a_write_by_some_threads_read_by_others,
        f_blocks.test_a_stage_inside_the_loop_of_a_thread,
        f_pipelines.test_an_exchange_in_a_branch_of_one_loop,
        f_pipelines.test_an_exchange_in_a_branch,
        f_pipelines.test_an_exchange_in_a_branch_of_statements,
    ),
    71: (
        f_blocks.test_a_shared_tile_read_then_overwritten,
        f_threads.test_two_tiles_read_then_overwritten,
        f_threads.test_copies_in_any_memory,
    ),
    73: (f_pipelines.test_two_pipelined_loops_of_one_kernel, f_pipelines.test_a_pipelined_tile_read_after_its_loop),
    75: (
        f_threads.test_copies_of_what_an_intrinsic_fills,
        f_pipelines.test_copies_that_an_instruction_fills,
        f_pipelines.test_copies_that_an_instruction_fills_on_cuda,
    ),
    77: (f_blocks.test_two_accumulators_of_one_thread, f_pipelines.test_two_accumulators_of_one_loop),
    78: (
        f_blocks.test_a_local_buffer_read_by_another_thread,
        f_pipelines.test_a_neighbours_registers_are_refused,
        f_pipelines.test_a_neighbours_element,
    ),
    79: (f_blocks.test_shared_buffers_that_live_at_once, f_threads.test_shared_memory_beyond_48_kib),
    80: (f_blocks.test_blocks_inside_anothers_blocks,),
    81: (f_blocks.test_two_loops_of_different_length_on_one_thread_axis,),
    83: (f_blocks.test_thread_axes_in_any_order,),
    # partial results, pairs, copies, what is inlined
    85: (
        g_outputs.test_a_pair_cannot_be_inlined,
        g_caches.test_a_pair_cached_together,
        g_caches.test_a_pair_cached_together_on_cuda,
    ),
    87: (
        g_outputs.test_the_first_of_equal_values_wins,
        g_outputs.test_the_first_of_equal_values_wins_on_cuda,
        g_caches.test_the_first_of_equal_values_wins_between_partial_results,
        g_caches.test_the_first_of_equal_values_wins_between_threads,
        e_reductions.test_lowest_index_wins,
    ),
    89: (
        g_outputs.test_reduce_axes_whose_extents_depend_on_the_element,
        g_outputs.test_reduce_axes_whose_extents_depend_on_the_element_on_cuda,
        g_outputs.test_the_pool_of_twelve_numbers,
    ),
    91: (g_outputs.test_a_sum_cannot_be_inlined,),
    93: (g_caches.test_copies_in_any_order, g_caches.test_copies_in_any_order_on_cuda),
    95: (
        g_outputs.test_a_sum_read_at_two_places_once_inlined,
        g_outputs.test_a_sum_read_at_two_places_once_inlined_on_cuda,
        g_caches.test_partial_results_of_a_sum_read_at_two_places,
    ),
    # scans
    111: (i_scans.test_a_stage_after_a_scan, i_scans.test_a_stage_after_a_scan_on_cuda),
    113: (i_scans.test_a_plain_scan_has_no_guard,),
    115: (
        i_scans.test_prefix_sums_of_a_part,
        i_scans.test_prefix_sums_of_a_part_on_cuda,
        i_scans.test_prefix_sums_of_a_view,
    ),
    # empty, without dimensions, out of range
    117: (
        j_empty.test_a_matmul_over_nothing,
        j_empty.test_a_matmul_over_nothing_of_symbolic_size,
        j_empty.test_a_matmul_over_nothing_on_cuda,
        j_empty.test_a_reduction_over_nothing,
    ),
    119: (j_empty.test_an_empty_tensor, j_empty.test_an_empty_tensor_on_cuda),
    121: (j_empty.test_tensors_without_dimensions, j_empty.test_tensors_without_dimensions_on_cuda),
    122: (
        j_empty.test_a_read_beyond_a_small_tensor,
        j_empty.test_reads_that_reach_the_ends,
        j_empty.test_reads_outside,
        j_empty.test_a_condition_that_leaves_too_much,
    ),
    # names
    133: (
        l_names.test_names,
        l_names.test_names_in_cuda,
        l_names.test_the_name_of_a_function,
        l_names.test_sizes_and_axes_of_one_name,
    ),
    # depth
    135: (
        m_depth.test_a_chain_of_reshapes,
        m_depth.test_a_chain_of_reshapes_on_cuda,
        m_depth.test_the_code_of_reshapes_grows_with_their_number,
        m_depth.test_nested_choices,
        m_depth.test_a_transpose_of_twelve_dimensions,
        m_depth.test_ragged_loops_inside_one_another,
        m_depth.test_a_thousand_stages,
        m_depth.test_a_sum_of_five_thousand_terms,
    ),
}
GROUPS = {
    "A": (1, 3, 5, 7, 9, 11, 13, 15, 17),
    "B": (19, 21, 23, 25, 27, 29, 31, 33, 35),
    "C": (37, 39, 41),
    "D": (42, 43, 45, 47, 49, 51, 53, 55),
    "E": (57, 59, 61, 63, 65, 67),
    "F": (69, 71, 73, 75, 77, 78, 79, 80, 81, 83),
    "G": (85, 87, 89, 91, 93, 95),
    "I": (111, 113, 115),
    "J": (117, 119, 121, 122),
    "L": (133,),
    "M": (135,),
}

FIXTURES = {"cpu": "cpu", "cuda": "cuda", "threads": "cuda"}
"""Where a test runs, by the fixture that it takes."""

ELSEWHERE: dict[int, tuple[set[str], str]] = {
    **dict.fromkeys((9, 55, 80, 91), (set(), "the right answer is a refusal")),
    37: (set(), "arrays of which only the pages that are touched exist, not those of the fixtures"),
    113: (set(), "what the first program looks like"),
    122: ({"cpu"}, "refused before there is a target"),
    **dict.fromkeys((42, 43), ({"cpu"}, "lanes and threads of a CPU; threads of a GPU are 57 to 67")),
    **dict.fromkeys((57, 59, 61, 63, 65, 67), ({"cuda"}, "threads of a block share a reduction out")),
    **dict.fromkeys((69, 71, 73, 78, 79, 81, 83), ({"cuda"}, "what the threads of a block do to one another")),
}
"""Faults that show in fewer places than on the CPU and as CUDA, and why."""


@pytest.mark.parametrize("number", TESTS)
def test_a_fault_is_tested_where_it_could_show(number):
    wanted, why = ELSEWHERE.get(number, ({"cpu", "cuda"}, ""))
    taken = {fixture for test in TESTS[number] for fixture in inspect.signature(test).parameters}
    places = {where for fixture, where in FIXTURES.items() if fixture in taken}
    assert wanted <= places, f"{number} runs on {sorted(places)} only; {why}"


def test_each_fault_has_tests():
    assert sorted(TESTS) == [number for group in GROUPS.values() for number in group]


def test_a_group_is_tested_in_its_own_files():
    """The letter of a group is that of the files; a few tests of other groups show the same fault."""
    for letter, numbers in GROUPS.items():
        for number in numbers:
            files = {inspect.getmodule(test).__name__.rpartition("test_")[2] for test in TESTS[number]}
            assert any(file.startswith(f"{letter.lower()}_") for file in files), number
