import Foundation
import Proofs

/// The words of acme, a store that lives in the tests alone. Till comes with no line of it: it is added by this folder, and by its place in
/// a service's list of stores.
///
/// acme states a contract whole: all charges, and what comes next. What it says last counts.
package struct AcmeStatement: Codable, Hashable, Sendable {
    /// A payment, and what it has bought.
    package struct Charge: Codable, Hashable, Sendable {
        package enum Kind: String, Codable, Sendable {
            case goods, credit, pass, plan
        }

        package enum Terms: String, Codable, Sendable {
            case full, trial, introductory
        }

        /// Money that acme has paid back.
        package struct PaidBack: Codable, Hashable, Sendable {
            package var amount: Int64
            package var at: Timestamp
            package var takesGoods: Bool

            package init(amount: Int64, at moment: Timestamp, takesGoods: Bool) {
                (self.amount, at, self.takesGoods) = (amount, moment, takesGoods)
            }
        }

        package var number: Int
        package var product: String
        package var kind: Kind
        package var units = 1
        package var from: Timestamp
        package var until: Timestamp?
        /// In thousandths of a dollar, of all units.
        package var price: Int64
        /// The price of the next period; nil for a charge that does not renew.
        package var recurring: Int64?
        package var terms = Terms.full
        package var continues = false
        /// True if the next charge has replaced the plan. The beginning of that one ends it, and `until` is still the paid end.
        package var isReplaced = false
        package var paidBack: PaidBack?

        package init(
            _ number: Int, _ product: String, _ kind: Kind, units: Int = 1, from: Timestamp, until: Timestamp? = nil,
            price: Int64, recurring: Int64? = nil, terms: Terms = .full, continues: Bool = false
        ) {
            (self.number, self.product, self.kind, self.units) = (number, product, kind, units)
            (self.from, self.until, self.price, self.recurring) = (from, until, price, recurring)
            (self.terms, self.continues) = (terms, continues)
        }
    }

    /// What comes after the last charge.
    package enum Next: Codable, Hashable, Sendable {
        case renews(as: String)
        /// The customer has ended it, with the last charge.
        case stops
        /// The bank has declined the charge. Nil for an end that is not known.
        case grace(until: Timestamp?)
        case retry
        /// The customer pauses after the last charge, and acme charges again at this moment.
        case paused(until: Timestamp)
        case over(Reason)

        package enum Reason: String, Codable, Sendable {
            case customer, bank, price
        }
    }

    package let app: String
    package let isTest: Bool
    package let contract: String
    /// The account token that the app has given.
    package let customer: UUID?
    package var charges: [Charge]
    /// Nil for a contract that does not renew.
    package var next: Next?
    package var statedAt: Timestamp

    package init(
        app: String, isTest: Bool = false, contract: String, customer: UUID?, charges: [Charge], next: Next? = nil,
        statedAt: Timestamp
    ) {
        (self.app, self.isTest, self.contract, self.customer) = (app, isTest, contract, customer)
        (self.charges, self.next, self.statedAt) = (charges, next, statedAt)
    }
}

/// The proof of a contract that a customer has: it says whose it is, and nothing of what acme has been paid.
package struct AcmeTicket: Codable, Hashable, Sendable {
    package let app: String
    package let isTest: Bool
    package let ticketOf: String

    package init(of statement: AcmeStatement) {
        (app, isTest, ticketOf) = (statement.app, statement.isTest, statement.contract)
    }
}

/// A message to the service.
package struct AcmeNotification: Codable, Hashable, Sendable {
    package let identifier: String
    package let type: String
    package let statement: AcmeStatement

    package init(_ identifier: String, _ type: String, _ statement: AcmeStatement) {
        (self.identifier, self.type, self.statement) = (identifier, type, statement)
    }
}

/// A content of acme and its signature: `acme:CONTENT.SIGNATURE`, both in base64url.
package struct AcmeSeal: Sendable {
    package struct Broken: Error {}

    private static let beginning = Array("acme:".utf8)

    /// The signed bytes.
    package let content: [UInt8]

    /// - Returns: Nil for the proof of another store.
    /// - Throws: `Broken` for a signature of another key.
    package init?(_ text: [UInt8], by key: PublicKey) throws(Broken) {
        guard text.starts(with: Self.beginning) else { return nil }
        let parts = text.dropFirst(Self.beginning.count).split(separator: UInt8(ascii: "."))
        guard parts.count == 2, let content = Base64.decode(parts[0], .urlSafe),
            let signature = Base64.decode(parts[1], .urlSafe), key.verifiesES256(signature, over: content)
        else { throw Broken() }
        self.content = content
    }

    package static func seal(_ content: some Encodable, with key: PrivateKey) throws -> [UInt8] {
        let bytes = Array(try JSONEncoder().encode(content))
        let signature = try key.signES256(bytes)
        return beginning + Array("\(Base64.encode(bytes, .urlSafe)).\(Base64.encode(signature, .urlSafe))".utf8)
    }

    /// The content in one of acme's forms; nil for another form.
    package func read<Content: Decodable>(as type: Content.Type = Content.self) -> Content? {
        try? JSONDecoder().decode(type, from: Data(content))
    }
}
