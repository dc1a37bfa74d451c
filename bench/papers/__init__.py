"""Tables of the four papers: encoders trained, measured and told beside the papers' own figures."""
