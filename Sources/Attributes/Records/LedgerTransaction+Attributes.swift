import Commerce
import Entitlements
import Ledger

extension LedgerTransaction {
    /// The attributes of a user, without removed ones, in the order of their names.
    public func attributes(of user: User) throws -> [Attribute] {
        guard let user = try users.known(user) else { return [] }
        return try AttributeRecords(database: database).attributes(of: user).filter { $0.value != nil }
    }

    /// Applies statements about a user's attributes. The newest statement about each attribute counts.
    ///
    /// - Parameter newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `AttributeError.tooMany`; `LedgerError`.
    public func state(
        _ statements: [Attribute],
        of user: User,
        newcomers: NewcomerAllowance? = nil,
        at moment: Timestamp
    ) throws {
        let bytesOfUser = try users.known(user) == nil ? NewcomerAllowance.bytes(ofUserNamed: user) : 0
        let number = try number(of: user, at: moment)
        let records = AttributeRecords(database: database)
        let before = try records.attributes(of: number)
        let update = try before.update(by: statements.map { $0.received(at: moment) })
        guard !update.isEmpty else { return }
        try charge(bytesOfUser + update.growth(of: before), for: number, to: newcomers)
        try records.write(update, of: number)
    }
}
