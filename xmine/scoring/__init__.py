"""Neighbours -> margin scores, retrieved pairs, probabilities and thresholds: functions of arrays.

Nothing here opens a file or knows an encoder.
"""
