import Ledger
import Proofs

extension LedgerTransaction {
    /// The attributes of a user, without removed ones, in the order of their names.
    ///
    /// - Parameter app: The bundle identifier of the only app whose statements are read, besides the team's; nil for all apps.
    package func attributes(of user: User, seenBy app: String? = nil) throws -> [Attribute] {
        guard let user = try users.known(user) else { return [] }
        let limit = try number(ofApp: app)
        let sides = try AttributeRecords(database: database).attributes(of: user)
        let seen = sides.filter { side, _ in
            side == AttributeRecords.team || limit.map { $0.number == nil || $0.number == side } ?? false
        }
        // A public statement with a key for all apps names no app.
        return seen.flatMap { side, attributes in
            attributes.filter { app == nil || side != AttributeRecords.team || !$0.isPublic }
        }.standing
    }

    /// All statements about a user, with those of each app, without removed attributes, in the order of the names.
    package func statedAttributes(of user: User) throws -> [Attribute] {
        guard let user = try users.known(user) else { return [] }
        return try AttributeRecords(database: database).attributes(of: user).sorted { $0.key < $1.key }
            .flatMap(\.value).filter { $0.value != nil }.sorted { $0.key < $1.key }
    }

    /// Applies statements about a user's attributes. The newest statement of each side about each attribute counts.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the app whose public key states them; nil for the team.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `AttributeError.tooMany`; `LedgerError`.
    package func state(
        _ statements: [Attribute],
        of user: User,
        from app: String? = nil,
        newcomers: NewcomerAllowance? = nil,
        at moment: Timestamp
    ) throws {
        let bytesOfUser = try users.known(user) == nil ? NewcomerAllowance.bytes(ofUserNamed: user) : 0
        let number = try number(of: user, at: moment)
        let records = AttributeRecords(database: database)
        let side = try app.flatMap { try AppRecords(database: database).numbers(of: [$0])[$0] } ?? AttributeRecords.team
        let before = try records.attributes(of: number)[side] ?? []
        let update = try before.update(by: statements.map { $0.received(at: moment) })
        guard !update.isEmpty else { return }
        try charge(bytesOfUser + update.growth(of: before), for: number, to: newcomers)
        try records.write(update, of: number, side)
    }
}
