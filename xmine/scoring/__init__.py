"""Neighbours -> margin scores, retrieved pairs, probabilities and thresholds: functions of arrays.

Nothing here loads an encoder, or knows a run or a format of pairs.
"""
