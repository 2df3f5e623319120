import GRDB
import HTTPSupport

/// A family of customers (Apple, Family Sharing): each shares with the others what the catalog makes shareable.
package struct Family: Hashable, Sendable {
    /// The most people of a family: the organizer and, as at Apple, five others.
    package static let maximumSize = 6

    /// The account that began the family. The family ends when it leaves.
    package let organizer: String
    /// The other accounts, in the order in which they joined.
    package let members: [String]

    package var people: [String] { [organizer] + members }

    package init(organizer: String, members: [String]) { (self.organizer, self.members) = (organizer, members) }

    /// - Throws: `StoreError`, `invalidAction`, if the family has as many people as it can have.
    package func checkRoom() throws(StoreError) {
        guard people.count < Self.maximumSize else {
            throw .invalidAction(
                "The family of \"\(organizer.prefix(100))\" has \(Self.maximumSize) people, as many as Apple allows. "
                    + "Let another leave it first.")
        }
    }

    /// The people who are in no family after an account leaves: everybody, if it is the organizer, or if one alone would be left.
    package func leaving(with account: String) -> [String] {
        account == organizer || people.count <= 2 ? people : [account]
    }
}

/// The SQL statements on families. They run inside the caller's transaction of the store's database.
struct FamilyRecords {
    let database: Database

    func family(of account: String) throws -> Family? {
        let found = try SQLRequest<Row>(
            """
            SELECT account, organizer FROM family_member
            WHERE organizer = (SELECT organizer FROM family_member WHERE account = \(account)) ORDER BY rowid
            """
        ).fetchAll(database)
        guard let organizer = found.first?["organizer"] as String? else { return nil }
        return Family(organizer: organizer, members: found.map { $0["account"] }.filter { $0 != organizer })
    }

    func add(_ account: String, organizer: String) throws {
        try database.insert(["account": account, "organizer": organizer], into: "family_member")
    }

    func remove(_ account: String) throws {
        try database.execute(literal: "DELETE FROM family_member WHERE account = \(account)")
    }

    func clear() throws { try database.execute(sql: "DELETE FROM family_member") }
}

extension Books {
    var families: FamilyRecords { FamilyRecords(database: database) }

    package func family(of account: String) throws -> Family? { try families.family(of: account) }

    /// The other people of an account's family.
    func relatives(of account: String) throws -> [String] {
        try families.family(of: account)?.people.filter { $0 != account } ?? []
    }

    /// Lets an account join the family of another, who begins one if it is in none. All present purchases are shared.
    package func join(_ account: String, familyOf other: String) throws {
        for account in [account, other] { try Store.check(account: account) }
        guard account != other else {
            throw StoreError.invalidAction(
                "\"\(account.prefix(100))\" cannot join its own family. Name another account.")
        }
        guard try families.family(of: account) == nil else {
            throw StoreError.invalidAction(
                "\"\(account.prefix(100))\" is in a family already. Let the account leave it first.")
        }
        let family = try families.family(of: other)
        try family?.checkRoom()
        if family == nil { try families.add(other, organizer: other) }
        try families.add(account, organizer: family?.organizer ?? other)
        for relative in family?.people ?? [other] {
            try shareAll(of: relative, with: account)
            try shareAll(of: account, with: relative)
        }
    }

    /// Lets an account leave its family. Each of them loses what the other shares.
    package func leaveFamily(_ account: String) throws {
        guard let family = try families.family(of: account) else {
            throw StoreError.invalidAction(
                "\"\(account.prefix(100))\" is in no family. Let the account join one first.")
        }
        for leaving in family.leaving(with: account) {
            for other in family.people where other != leaving {
                try endSharing(of: leaving, with: other)
                try endSharing(of: other, with: leaving)
            }
            try families.remove(leaving)
        }
    }
}
