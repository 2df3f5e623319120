"""The in-app purchase server Till, with its local stores."""

from till_iap.program import PROGRAM
from till_iap.servers import Play, Refusal, Service, Store

__all__ = ["PROGRAM", "Play", "Refusal", "Service", "Store"]
