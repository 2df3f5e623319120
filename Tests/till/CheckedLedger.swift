/// The output of `till ledger check --json`.
struct CheckedLedger: Decodable {
    let users: Int
    let redeemedTransactions: Int
    let problems: [String]
}
