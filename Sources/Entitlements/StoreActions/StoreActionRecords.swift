import Ledger
import Proofs
import Vocabulary

/// The SQL of actions at stores, inside the caller's transaction.
struct StoreActionRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    private static let columns = [
        "reference", "origin", "app", "action_id", "kind", "user_id", "product_id", "terms", "reason", "requested_by",
        "requested_at", "state", "decided_by", "decided_at", "attempts", "next_attempt_at", "facts_before", "answer",
        "answered_at", "confirmed_at", "last_error",
    ]

    /// - Parameter clauses: The SQL after the table.
    private func actions(_ clauses: String, _ arguments: [any SQLConvertible]) throws -> [StoreAction] {
        // The number of the user is for erasures alone.
        let columns = Self.columns.filter { $0 != "user_id" }.joined(separator: ", ")
        return try database.rows("SELECT \(columns) FROM store_action \(clauses)", arguments, action)
    }

    private func action(_ row: inout ResultRow) throws -> StoreAction {
        let key = try apps.key(&row)
        let (identifier, kind): (String, StoreAction.Kind) = (try row.next(), try row.next())
        let (product, terms): (String, String) = (try row.next(), try row.next())
        let (reason, requestedBy): (String, String) = (try row.next(), try row.next())
        let (requestedAt, state): (Timestamp, StoreAction.State) = (try row.next(), try row.next())
        let (decidedBy, decidedAt): (String?, Timestamp?) = (try row.next(), try row.next())
        var decision: StoreAction.Decision?
        if let decidedBy, let decidedAt { decision = .init(by: decidedBy, at: decidedAt) }
        guard let terms = try Self.object(terms) else { throw ColumnMismatch.column("terms") }
        return StoreAction(
            identifier, kind, of: key, product, terms, reason: reason, by: requestedBy, at: requestedAt, state,
            decision, attempts: try row.next(), nextAttemptAt: try row.next(), before: try Self.object(row.next()),
            answer: try Self.object(row.next()), answeredAt: try row.next(), confirmedAt: try row.next(),
            lastError: try row.next())
    }

    private static func object(_ text: String?) throws -> JSONObject? {
        guard let text else { return nil }
        guard case .object(let object) = try JSONParser.parse(Array(text.utf8)) else {
            throw ColumnMismatch.column("answer")
        }
        return object
    }

    private static func text(_ object: JSONObject?) -> String? { object.map { JSONValue.object($0).compactText } }

    func action(_ identifier: String) throws -> StoreAction? {
        try actions("WHERE action_id = $1", [SQLValue.packed(identifier)]).first
    }

    /// The action of a kind for an object that a repeated request is about; nil for none.
    func standing(_ kind: StoreAction.Kind, of key: TransactionKey) throws -> StoreAction? {
        try actions(
            "WHERE reference = $1 AND origin = $2 AND app = $3 AND kind = $4 AND (\(Table.isStanding))",
            key.sqlValues(apps) + [kind.rawValue]
        ).first
    }

    /// The last action of a kind for an object that a store has accepted since a moment; nil for none.
    func accepted(_ kind: StoreAction.Kind, of key: TransactionKey, since moment: Timestamp) throws -> StoreAction? {
        try actions(
            """
            WHERE reference = $1 AND origin = $2 AND app = $3 AND kind = $4 AND state IN ('accepted', 'confirmed')
                AND answered_at > $5 ORDER BY answered_at DESC, action_id LIMIT 1
            """, key.sqlValues(apps) + [kind.rawValue, moment]
        ).first
    }

    /// Adds an action, unless another one of its kind stands for its object.
    ///
    /// - Parameter user: The number of the owner; nil for an action about all subscribers.
    func add(_ action: StoreAction, of user: Int64?) throws {
        try database.insert(
            into: "store_action", Self.columns,
            [
                action.key.sqlValues(apps) + [
                    SQLValue.packed(action.identifier), action.kind.rawValue, user, action.productIdentifier,
                    Self.text(action.terms), action.reason, action.requestedBy, action.requestedAt, action.state,
                    action.decision?.by, action.decision?.at, action.attempts, action.nextAttemptAt,
                    Self.text(action.before), Self.text(action.answer), action.answeredAt, action.confirmedAt,
                    action.lastError,
                ]
            ], isNew: false)
    }

    /// The actions with an attempt, or a look, that is due, the longest waiting first.
    ///
    /// - Parameters:
    ///   - lane: The only lane; nil for the actions of none of the lanes.
    ///   - lanes: All lanes.
    func due(
        at moment: Timestamp, in lane: StoreActionService.Lane?, of lanes: [StoreActionService.Lane], limit: Int
    ) throws -> [StoreAction] {
        var (conditions, arguments): ([String], [any SQLConvertible]) = (["next_attempt_at <= $1"], [moment])
        func isIn(_ lane: StoreActionService.Lane, _ app: Int64) -> String {
            arguments.append(app)
            let number = arguments.count
            arguments += lane.origins.map { $0 as any SQLConvertible }
            let origins = lane.origins.indices.map { "$\(number + 1 + $0)" }.joined(separator: ", ")
            return "app = $\(number) AND origin IN (\(origins))"
        }
        if let lane {
            guard let app = apps[lane.app] else { return [] }
            conditions.append(isIn(lane, app))
        } else {
            for lane in lanes {
                // The ledger has no action of an app that it does not know.
                if let app = apps[lane.app] { conditions.append("NOT (\(isIn(lane, app)))") }
            }
        }
        arguments.append(limit)
        return try actions(
            """
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY next_attempt_at, requested_at, action_id
            LIMIT $\(arguments.count)
            """, arguments)
    }

    /// The actions, the newest first.
    ///
    /// - Parameters:
    ///   - app: The number of the only app; nil for all apps.
    ///   - state: The only state; nil for all states.
    ///   - reference: The only transaction, original transaction or product; nil for all.
    func list(
        of app: Int64?, in state: StoreAction.State?, about reference: String?, after position: StoreAction.Position?,
        limit: Int
    ) throws -> [StoreAction] {
        var (conditions, arguments): ([String], [any SQLConvertible]) = ([], [])
        if let reference {
            arguments.append(SQLValue.packed(reference))
            conditions.append("reference = $\(arguments.count)")
        }
        if let app {
            arguments.append(app)
            conditions.append("app = $\(arguments.count)")
        }
        if let state {
            arguments.append(state)
            conditions.append("state = $\(arguments.count)")
        }
        if let position {
            arguments += [position.first, SQLValue.packed(position.third)]
            conditions.append("(requested_at, action_id) < ($\(arguments.count - 1), $\(arguments.count))")
        }
        arguments.append(limit)
        let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        return try actions(
            "\(filter) ORDER BY requested_at DESC, action_id DESC LIMIT $\(arguments.count)", arguments)
    }

    /// Puts the next attempt off.
    ///
    /// - Returns: False if another process has begun it, or the action has changed since it was read.
    func replace(_ known: Timestamp, with next: Timestamp, attempts: Int, of action: StoreAction) throws -> Bool {
        try database.execute(
            """
            UPDATE store_action SET attempts = $1, next_attempt_at = $2
            WHERE reference = $3 AND origin = $4 AND app = $5 AND action_id = $6 AND next_attempt_at = $7 AND state = $8
            """,
            [attempts, next] + action.key.sqlValues(apps) + [
                SQLValue.packed(action.identifier), known, action.state,
            ]) > 0
    }

    /// Writes values of an action that is in a state, and for which no other attempt has begun since it was read.
    ///
    /// - Returns: False if nothing was written.
    func write(
        _ values: KeyValuePairs<String, any SQLConvertible>, of action: StoreAction, in state: StoreAction.State
    ) throws -> Bool {
        let assignments = values.enumerated().map { "\($1.key) = $\($0 + 1)" }.joined(separator: ", ")
        let first = values.count + 1
        return try database.execute(
            """
            UPDATE store_action SET \(assignments)
            WHERE reference = $\(first) AND origin = $\(first + 1) AND app = $\(first + 2) AND action_id = $\(first + 3)
                AND state = $\(first + 4) AND attempts = $\(first + 5)
            """,
            values.map(\.value) + action.key.sqlValues(apps) + [
                SQLValue.packed(action.identifier), state, action.attempts,
            ]) > 0
    }

    static func value(_ object: JSONObject) -> String { JSONValue.object(object).compactText }
}

extension StoreAction.Kind: SQLConvertible {}

extension StoreAction {
    /// The position in the list: the time of the request, nothing, and the identifier.
    package typealias Position = PagePosition<Int64, Int64, String>

    package var position: Position { Position(requestedAt.millisecondsSince1970, 0, identifier) }
}

/// The purchase of an action.
extension LedgerTransaction {
    var storeActions: StoreActionRecords {
        get throws { StoreActionRecords(database: database, apps: try apps) }
    }

    /// The transactions of an identifier or an order: the redeemed ones, or else those that nobody has redeemed.
    func storeActionTargets(
        _ identifier: String, from origin: Origin?, in app: String?
    ) throws -> [StoreActionTarget] {
        let redeemed = try redeemedTargets(identifier, from: origin, in: app)
        return redeemed.isEmpty ? try unclaimedTargets(identifier, from: origin, in: app) : redeemed
    }

    /// The targets among the purchases that nobody has redeemed. The last renewal stands for an original transaction.
    private func unclaimedTargets(
        _ identifier: String, from origin: Origin?, in app: String?
    ) throws -> [StoreActionTarget] {
        let found = try identifiers(meantBy: identifier).flatMap {
            try unclaimedPurchases(ofTransaction: $0, in: app, after: nil, limit: 100)
        }.filter { origin == nil || $0.origin == origin }
        let named = found.filter { $0.transactionIdentifier.hasSameBytes(as: identifier) }
        let ofPurchases = Dictionary(grouping: found) {
            TransactionKey(app: $0.app, origin: $0.origin, identifier: $0.originalTransactionIdentifier)
        }
        let shown = named.isEmpty ? ofPurchases.values.compactMap(\.newest) : named
        return try shown.map { purchase in
            let all = try unclaimedPurchases(
                ofTransaction: purchase.originalTransactionIdentifier, in: purchase.app, after: nil, limit: 100
            ).filter { $0.origin == purchase.origin }
            let last = all.newest ?? purchase
            return StoreActionTarget(
                owner: nil, transaction: purchase.stated, last: last.stated, unclaimedRenewal: last.claim.renewal)
        }
    }

    private func redeemedTargets(
        _ identifier: String, from origin: Origin?, in app: String?
    ) throws -> [StoreActionTarget] {
        let reading = ReadingRecords(database: database)
        var found = try owners(of: identifier, named: nil).flatMap { owner in
            try transactions(identifier, from: origin, in: app, of: owner).map { (owner, $0) }
        }
        if found.isEmpty, identifier.hasPrefix(Self.orderPrefix) {
            let ofOrder = try database.rows(
                "SELECT user_id, transaction_id FROM redeemed_transaction WHERE order_id = $1 ORDER BY user_id, sequence",
                [identifier]
            ) { (owner: try $0.next() as Int64, transaction: try $0.next() as String) }
            // Each line of the order stands for it.
            found = try ofOrder.lazy.flatMap { owner, transaction in
                try transactions(transaction, from: origin, in: app, of: owner).map { (owner, $0) }
            }.prefix(1).map(\.self)
        }
        return try found.map { owner, transaction in
            let original = TransactionKey(
                app: try transaction.seller, origin: transaction.origin,
                identifier: transaction.originalTransactionIdentifier)
            let all = try reading.transactions(ofPurchase: original, try apps, of: owner)
            let last = all.max { $0.isEarlier(than: $1) }
            return StoreActionTarget(owner: owner, transaction: transaction, last: last ?? transaction)
        }
    }

    /// The purchase of a recorded action; nil for an action about all subscribers, and for a purchase that is gone.
    package func target(of action: StoreAction) throws -> StoreActionTarget? {
        switch action.kind.rule.object {
        case .product: return nil
        case .transaction:
            return try storeActionTargets(action.key.identifier, from: action.key.origin, in: action.key.app).first
        case .subscription:
            let all = try redeemedTransactions(ofPurchase: action.key)
            guard let last = all.max(by: { $0.isEarlier(than: $1) }) else {
                return try unclaimedTargets(action.key.identifier, from: action.key.origin, in: action.key.app).first
            }
            let owner: Int64? = try database.value(
                "\(Table.ownerOfPurchase) AND origin = $2 AND app = $3", action.key.sqlValues(try apps))
            return owner.map { StoreActionTarget(owner: $0, transaction: last, last: last) }
        }
    }

    /// True if the ledger has the store's statement of the effect of an accepted action.
    ///
    /// - Parameter target: The purchase now.
    func isStated(_ action: StoreAction, of target: StoreActionTarget) throws -> Bool {
        let transaction = target.transaction
        switch action.kind {
        case .refund:
            let isTaken = transaction.revocationDate != nil
            if isTaken || !action.isOn(.takesGoods) && transaction.paidBack?.isWhole == true { return true }
            // A request to Apple may be about a part. Another part may have been paid back before.
            guard action.key.origin.store == .appStore, let amount = transaction.paidBack?.amount else { return false }
            guard case .number(let before)? = action.before?[StoreAction.paidBefore], let earlier = Int64(before.text)
            else { return true }
            return amount > earlier
        case .revoke: return target.last.revocationDate != nil
        case .cancel:
            let renewal =
                try target.owner.map { owner in
                    try ReadingRecords(database: database).renewals(of: owner).first {
                        $0.purchase == transaction.purchase
                    }?.renewal
                } ?? target.unclaimedRenewal
            return renewal?.facts.integer(.autoRenewStatus) == Int64(AutoRenewStatus.off.rawValue)
        case .extend:
            guard let end = action.before?.moment(StoreAction.endBefore), let now = target.last.expiresAt else {
                return false
            }
            return now > end
        // The ledger has no statement of their effects; the store's answer is one.
        case .extendAll, .changePrice, .changeMetadata, .migrate: return false
        }
    }

    /// True if the App Store has told that it pays nothing back, since the action was asked for: "the App Store declined a refund request"
    /// (App Store Server Notifications, `notificationType`, REFUND_DECLINED).
    ///
    /// The notification names no request, and the customer's own is told alike. Apple decides one request about a transaction at a time
    /// (Advanced Commerce API, PendingRefundError), and takes none of a customer after another one: "the refund decision is still pending,
    /// has been previously denied, or has been previously approved" (StoreKit, `RefundRequestError.duplicateRequest`). So a refusal is about
    /// the action if it comes after the App Store has taken that, and about the customer's own request if it comes before.
    func isDeclined(_ action: StoreAction) throws -> Bool {
        guard action.key.origin.store == .appStore, [.refund, .revoke].contains(action.kind) else { return false }
        let column = action.kind == .refund ? "transaction_id" : "original_transaction_id"
        // An earlier refusal of Apple's may arrive later, or with the history of notifications. The signed answer is that of the attempt
        // which the App Store has taken; without it, any attempt may have been.
        var asked = action.decision?.at ?? action.requestedAt
        if action.answer?["signedTransactionInfo"] != nil, let answeredAt = action.answeredAt {
            asked = max(asked, answeredAt.adding(seconds: -StoreActionService.longestAttempt))
        }
        let found: Int64? = try database.value(
            """
            SELECT 1 FROM notification \(database.indexed(by: "notification_of_type"))
            WHERE type = 'REFUND_DECLINED' AND received_at >= $1 AND signed_at >= $2 AND \(column) = $3 AND origin = $4
                AND app = $5 LIMIT 1
            """, [asked, asked] + action.key.sqlValues(try apps))
        return found != nil
    }

    /// The summary of an extension of all subscribers that the App Store has notified; nil for none.
    func summary(of action: StoreAction) throws -> JSONObject? {
        // The summary is the last notification about a request.
        let newest = try notifications(
            ofType: NotificationTypeV2.renewalExtension.rawValue, in: action.key.app, before: nil, limit: 100)
        for received in newest.shown {
            guard let content = received.notification.content,
                case .object(let whole) = try JSONParser.parse(Array(content.utf8)),
                case .object(let summary)? = whole["summary"],
                summary.text("requestIdentifier")?.lowercased() == action.identifier
            else { continue }
            return summary
        }
        return nil
    }
}

extension [UnclaimedPurchase] {
    /// The last transaction of a purchase; nil for none.
    fileprivate var newest: UnclaimedPurchase? {
        self.max { ($0.purchaseDate, $0.statedAt) < ($1.purchaseDate, $1.statedAt) }
    }
}

extension UnclaimedPurchase {
    /// The statement of the store, as the transaction that a redemption would make of it.
    package var stated: RedeemedTransaction {
        RedeemedTransaction(
            sequence: 0, origin: origin, transactionIdentifier: transactionIdentifier,
            originalTransactionIdentifier: originalTransactionIdentifier, productIdentifier: productIdentifier,
            quantity: claim.quantity, purchaseDate: purchaseDate, redeemedAt: statedAt, revocationDate: revocationDate,
            app: app, appNumber: appNumber, expiresAt: claim.endingAsStated.expiresAt,
            facts: claim.facts ?? TransactionFacts())
    }
}

extension StoreAction {
    /// The fact before an extension: the end of the last period.
    package static let endBefore = "expiresDate"
    /// The fact before a refund at the App Store: the milliunits that were paid back before; absent for none.
    package static let paidBefore = "refundedAmount"
}

extension LedgerFeature {
    /// The actions at stores that the team has asked for.
    package static let storeActions = LedgerFeature(tables: [.storeAction])
}

extension Table {
    /// The condition of actions that a repeated request is about: those under way, also at the store until it has stated the effect, and
    /// those that a store performs once.
    static let isStanding = """
        state IN ('awaitingApproval', 'waiting') OR state = 'accepted' AND next_attempt_at IS NOT NULL \
        OR (\(isOnce)) AND state IN ('accepted', 'confirmed')
        """

    private static let isOnce = StoreAction.Kind.allCases.flatMap { kind in
        kind.rule.endpoints.filter { $0.repetition == .none }.map {
            "kind = '\(kind.rawValue)' AND \(Origin.condition(of: $0.store))"
        }
    }.joined(separator: " OR ")

    /// The actions that the team has asked stores for. `reference`: the transaction, the original transaction of a subscription, or the
    /// product; `user_id`: the owner at the time of the request, whose erasure removes the reason; `facts_before`: what the store stated
    /// before the first attempt; `next_attempt_at`: the next attempt, or the next look for the store's statement.
    fileprivate static let storeAction = Table(
        name: "store_action", family: .globalKey,
        columns: [
            .packed("reference"), .origin("origin"), .integer("app"), .packed("action_id"), .text("kind"),
            .integer("user_id").optional, .text("product_id"), .text("terms"), .text("reason"), .text("requested_by"),
            .integer("requested_at"), .text("state"), .text("decided_by").optional, .integer("decided_at").optional,
            .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at").optional,
            .text("facts_before").optional, .text("answer").optional, .integer("answered_at").optional,
            .integer("confirmed_at").optional, .text("last_error").optional,
        ],
        key: ["reference", "origin", "app", "action_id"],
        checks: ["(decided_by IS NULL) = (decided_at IS NULL)"],
        erasure: .update("reason = 'erased'")
    )
    .indexed("store_action_standing", by: ["reference", "origin", "app", "kind"], isUnique: true, where: isStanding)
    .indexed("store_action_by_identifier", by: ["action_id"])
    .indexed("store_action_of_user", by: ["user_id"], where: "user_id IS NOT NULL")
    .indexed("store_action_waiting", by: ["next_attempt_at"], where: "next_attempt_at IS NOT NULL")
    .indexed("store_action_by_time", by: ["requested_at", "action_id"])
    .takingBack("next_attempt_at", within: GooglePurchase.Acknowledgement.longestPause)
}
