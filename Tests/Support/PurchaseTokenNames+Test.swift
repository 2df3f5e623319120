import Proofs

extension PurchaseTokenNames {
    /// The names of a ledger that a test does not need.
    package static let test = PurchaseTokenNames(key: [UInt8](repeating: 7, count: 32))
}
