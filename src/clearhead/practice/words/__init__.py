"""Everything practice says to a learner, in English and in Korean: as a patient teacher would say it.

Tasks, hints and what is said of an exercise's own mistakes stand with the exercise.
"""

from clearhead.practice.words import accidents, command, found, seen

__all__ = ["accidents", "command", "found", "seen"]
