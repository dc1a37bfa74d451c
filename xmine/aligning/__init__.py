"""Neighbours -> margin scores, retrieved pairs, probabilities and thresholds: functions of arrays.

Nothing here knows an encoder, a run or a format of pairs.
"""
