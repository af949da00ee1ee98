"""What a trained translator looks at, as pictures and one page to look through them: `clearhead visualize`."""
