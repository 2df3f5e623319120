import HTTPSupport
import Ledger

/// The parts of the running service that the checks use instead of opening the ledger a second time.
struct RunningService {
    let ledger: Ledger
    let keys: APIKeys
}
