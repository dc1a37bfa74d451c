"""Results of benchmarks -> tables, comparisons with published figures, reports and records.

Nothing here runs a benchmark.
"""
