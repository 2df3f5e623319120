import Commerce
import Ledger

extension LedgerTransaction {
    /// The attributes of a user, without removed ones, in the order of their names.
    public func attributes(of user: User) throws -> [Attribute] {
        guard let user = try users.known(user) else { return [] }
        return try AttributeRecords(database: database).attributes(of: user).filter { $0.value != nil }
    }

    /// Applies statements about a user's attributes. The newest statement about each attribute counts.
    ///
    /// - Throws: `AttributeError.tooMany`; `LedgerError.userUnknown`.
    public func state(_ statements: [Attribute], of user: User, at moment: Timestamp) throws {
        let user = try number(of: user, at: moment)
        let records = AttributeRecords(database: database)
        let update = try records.attributes(of: user).update(by: statements.map { $0.received(at: moment) })
        guard !update.isEmpty else { return }
        try records.write(update, of: user)
    }
}
