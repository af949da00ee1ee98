"""The course: eight notes in Korean and in English, and `drawing`, which makes their figures from real runs."""
