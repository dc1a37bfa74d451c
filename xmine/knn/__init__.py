"""Two matrices -> the k nearest rows both ways: exact on a processor or a GPU, or by FAISS."""
