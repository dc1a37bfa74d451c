"""Measures of the vector space: alignment, uniformity, geometry, clusters, language probes.

Nothing here needs rated or parallel test sets of one benchmark.
"""
