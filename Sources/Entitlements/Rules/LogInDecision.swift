import Ledger
import Proofs
import Vocabulary

/// The effect of a log-in on the ids of a customer. It is pure: it uses no database.
///
/// An anonymous customer who logs in is one customer with the known one, under each ownership policy. The same purchases,
/// log-ins and notifications then lead to the same owners in any order: if the log-in comes first, the anonymous id's purchases
/// are the known customer's from the start. Known customers stay apart. The ownership policy decides about a purchase that both
/// of them present.
package enum LogInDecision: Hashable, Sendable {
    /// Both ids are already the same customer's, or those of two known customers.
    case unchanged
    /// The new id is unknown, and the current one is of another known customer. A customer is added.
    case newCustomer
    /// The current id was never used. It becomes an alias of the new id, whose customer is added if it is unknown.
    case alias
    /// The new id is unknown. The current id's customer gets its name, and the current id becomes an alias.
    case renaming(Int64)
    /// The anonymous customer becomes one with another.
    case merge(Int64, into: Int64)

    /// Two anonymous customers, of whom the smaller one becomes one with the larger one. A chain of log-ins then moves each record
    /// only a few times.
    ///
    /// - Returns: Nil unless both customers are anonymous, and the first one is larger.
    package func reversed(_ heads: [Int64: UserHead], areBothAnonymous: Bool) -> LogInDecision? {
        guard case .merge(let former, let customer) = self, areBothAnonymous, let first = heads[former],
            let second = heads[customer], first.weight > second.weight
        else { return nil }
        return .merge(customer, into: former)
    }

    /// - Parameters:
    ///   - current: The number of the customer whose id the app used before; nil for an unknown id.
    ///   - isAnonymous: True if that id is anonymous, and no known id belongs to its customer.
    ///   - customer: The number of the new id's customer; nil for an unknown id.
    ///   - isSame: True if both ids are the same.
    package init(from current: Int64?, isAnonymous: Bool, to customer: Int64?, isSame: Bool) {
        guard isAnonymous, !isSame else {
            self = customer == nil ? .newCustomer : .unchanged
            return
        }
        switch (current, customer) {
        case (nil, _): self = .alias
        case (let former?, nil): self = .renaming(former)
        case (let former?, let customer?): self = former == customer ? .unchanged : .merge(former, into: customer)
        }
    }
}

extension UserHead {
    /// A measure of a customer's records. It never falls.
    fileprivate var weight: Int64 { lastTransaction + lastGrant + auditNumber }
}

/// The result of a log-in.
package struct LogIn: Hashable, Sendable {
    /// The largest number of records of an anonymous customer that a log-in moves. Purchases of everybody wait meanwhile.
    package static let maximumRecords = 5000

    package enum Effect: String, Sendable {
        /// The ids were already the same customer's, or they are those of two known customers. Or the anonymous id has nothing, and
        /// the customer has no room for another alias.
        case unchanged
        /// The anonymous id became a further id of the customer.
        case aliased
        /// The anonymous customer became one with the known customer.
        case merged
    }

    /// True if the new id was unknown.
    package let isNew: Bool
    package let effect: Effect
}

/// The error of a log-in. Nothing was changed.
package enum LogInError: RuledError, Equatable {
    /// The anonymous customer has too many records to move them in one commit.
    case customerTooLarge

    package var rule: ErrorRule {
        switch self {
        case .customerTooLarge:
            ErrorRule(
                "customerTooLarge", .conflict,
                "The anonymous customer has more than \(LogIn.maximumRecords) records, too many for a log-in. Nothing was "
                    + "changed. Let the team join the two ids by an import.",
                korean: "익명 고객의 기록이 \(LogIn.maximumRecords)건을 넘어 로그인할 수 없습니다. 아무것도 바꾸지 않았습니다. 두 아이디를 가져오기로 합치세요.")
        }
    }
}
