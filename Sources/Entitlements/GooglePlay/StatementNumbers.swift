import Ledger

/// The order of Google Play's answers about a chain of purchase tokens, inside the caller's transaction.
///
/// An answer has no date, and the clocks of the services may be wrong, and differ. So the ledger counts the questions. A question takes its
/// number before it is sent: an answer that is stored late does not supersede the answer to a later question.
/// ```
/// one service                       another service
/// takes 7, asks: it is paid
///                                   takes 8, asks: it is refunded, stores 8
/// stores 7: an earlier statement
/// ```
struct StatementNumbers {
    let database: any LedgerDatabase
    /// The number of the app.
    let app: Int64
    /// The name of the app on Google Play.
    let package: String

    /// Takes the next number of a chain.
    ///
    /// - Parameter originalToken: The first token of the chain. Its tokens state the same transactions, so they share the numbers.
    func take(of originalToken: String) throws -> Int64 {
        let key: [any SQLConvertible] = [originalToken, app, package]
        try database.add(
            to: "google_chain", "questions", where: ["original_token", "app", "package"], [key + [1 as Int64]])
        let number: Int64? = try database.value(
            "SELECT questions FROM google_chain WHERE original_token = $1 AND app = $2 AND package = $3", key)
        guard let number else { throw ColumnMismatch.column("questions") }
        return number
    }
}

extension Table {
    /// The number of questions to Google Play about the tokens of each chain of purchases. A token that Google Play does not know has none.
    /// The numbers go on after a reset, so that an answer to a question of before it supersedes none of after it.
    static let googleChain = Table(
        name: "google_chain", family: .globalKey,
        columns: [
            .text("original_token"), .integer("app"), .text("package"), .integer("questions", check: "questions > 0"),
        ],
        key: ["original_token", "app", "package"], staysAtReset: true)
}
