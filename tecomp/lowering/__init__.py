"""From a schedule and its bounds to the first loop program."""
