"""The dress rehearsal: a promoted policy trades on paper, bounded, watched, and is accepted or rolled back."""
