"""The procedure of Kim, Sim, Wu, Byna, Son, Eom: Towards HPC I/O performance prediction through large-scale log
analysis, HPDC 2020; its text where Procedure 1 is misprinted (docs/log-prediction.md).
"""
