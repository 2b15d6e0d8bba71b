"""What to do about a finding."""

CONFIRM = "Let a few folds decide among the first: confirm=5."
OTHER_ROWS = 'Draw V in another way: augmenter="auto".'
MORE_ROWS = "Draw more of V: n_replicates=30; or let a few folds decide among the first: confirm=5."
WIDEN = "Widen the grid there."
MORE_OF_CLASS = "Collect more rows of it, or join it with a like class: its scores are guesses."
IN_ORDER = (
    "Use folds that respect the order or the groups: leave-zero-out and random folds both mislead."
)
TWINS = "Drop the duplicates, or give what they share as groups."
