import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird

/// The sandbox API: actions of the customer, of Apple and of time, as in Xcode's StoreKit test session (`SKTestSession`).
struct SandboxRoutes: Sendable {
    /// The longest time that a step of the clock waits for notifications, below the time limit of a request.
    private static let deliveryTime = Duration.seconds(20)

    let store: Store
    /// Deletes the named store; nil if the store has no name.
    let delete: (@Sendable () -> Void)?

    func add(to group: RouterGroup<ServiceContext>) {
        addPurchases(to: group)
        addFamilies(to: group)
        addQueue(to: group)
        addSales(to: group)
        addSettings(to: group)
        addNotifications(to: group)
    }

    private func addPurchases(to group: RouterGroup<ServiceContext>) {
        group.on(.buy) { request, context in
            let body = try await SandboxBody.decode(request, context, as: PurchaseRequest.self)
            let (payment, signed, account) = (try body.payment(), try body.signedPurchase(), body.account)
            let outcome = try body.paymentOutcome()
            let json = try await BlockingWork.run {
                let added = try store.add(payment, with: signed, account: account, outcome: outcome)
                _ = try store.process(account: account)
                return try store.read { books in
                    try books.answer(
                        try books.queued(added.identifier), effect: try books.effect(of: added.identifier)
                    ).json()
                }
            }
            return JSONAnswer.response(bytes: json, status: .created)
        }
        group.on(.judgeSignedRequest) { request, context in
            let compact = try await SandboxBody.decode(request, context, as: SignedRequestRequest.self).signedRequest
            return try await BlockingWork.run {
                try store.read { try $0.verdict(onSignedRequest: compact) }
            }.answer()
        }
        group.on(.listProducts) { _, _ in
            try await read { books in
                try List(
                    try books.products().map {
                        ProductResource($0, benefit: nil, localization: $0.localizations.first)
                    }
                ).json()
            }
        }
        add(.listSubscriptions, to: group) { try List(try $0.subscriptionStatuses(of: $1)).json() }
        add(.readAppTransaction, to: group) { try ["signedAppTransaction": try $0.signedAppTransaction(of: $1)].json() }
        add(.listSales, to: group) {
            try List(try $0.transactions.transactions(of: $1)).json()
        }
        add(.readReceipt, to: group) { try ["receipt": try $0.receipt(account: $1)].json() }
        group.on(.restore) { _, context in
            let account = try context.parameters.text("account")
            try await BlockingWork.run { try store.write { try $0.restoreCompletedTransactions(account: account) } }
            return try await read { try $0.queue(of: account) }
        }
        group.on(.clearSales) { _, _ in
            try await write { try $0.clearSales() }
        }
    }

    private func addFamilies(to group: RouterGroup<ServiceContext>) {
        add(.readFamily, to: group) { try FamilyResource(try $0.family(of: $1)).json() }
        group.on(.joinFamily) { request, context in
            let account = try context.parameters.text("account")
            let member = try await SandboxBody.decode(request, context, as: SharingRequest.self).account
            return try await BlockingWork.run {
                try store.write { books in
                    try books.join(member, familyOf: account)
                    return FamilyResource(try books.family(of: account))
                }
            }.answer()
        }
        group.on(.leaveFamily) { _, context in
            let account = try context.parameters.text("account")
            return try await write { try $0.leaveFamily(account) }
        }
    }

    /// A transaction of the queue has its own number as soon as its payment is added.
    private func addQueue(to group: RouterGroup<ServiceContext>) {
        group.on(.listQueue) { request, _ in
            let account = try request.query("account")
            return try await read { try $0.queue(of: account) }
        }
        for (action, operation) in APIOperation.queueActions {
            group.on(operation) { _, context in
                let number = try context.parameters.require("number", as: Int64.self)
                let json = try await BlockingWork.run {
                    let changed = try store.perform(action, on: number)
                    return try store.read { try $0.answer(changed).json() }
                }
                return JSONAnswer.response(bytes: json)
            }
        }
    }

    private func addSettings(to group: RouterGroup<ServiceContext>) {
        group.on(.readSettings) { _, _ in try await read { try JSONAnswer.encode(SettingsResource($0.settings)) } }
        group.on(.changeSettings) { request, context in
            let changes = try await SandboxBody.decode(request, context, as: SettingsChanges.self)
            return try JSONAnswer.response(
                try await BlockingWork.run { SettingsResource(try store.update(changes.apply)) })
        }
        group.on(.readTime) { request, _ in
            let account = try request.query("account")
            return try await read { books in
                try ClockAnswer(
                    now: try books.time(of: account), accounts: account == nil ? try books.accountTimes() : nil
                ).json()
            }
        }
        group.on(.advanceTime) { request, context in
            let body = try await SandboxBody.decode(request, context, as: TimeAdvanceRequest.self)
            let (step, account) = (try body.step(), body.account)
            let start = try await BlockingWork.run { try store.time(of: account) }
            // A client that closes its connection stops no clock halfway.
            let now = try await Task {
                try await store.advance(step, of: account, deliveringWithin: Self.deliveryTime)
            }.value
            return try await read {
                try ClockAnswer(now: now, events: try $0.dueEvents(after: start, until: now, of: account)).json()
            }
        }
        group.on(.reset) { _, _ in try await BlockingWork.run { try store.reset() }.answer() }
        group.addDeletion(delete)
    }

    private func addNotifications(to group: RouterGroup<ServiceContext>) {
        group.on(.listNotifications) { _, _ in
            try await read { try List(try $0.notifications.notifications()).json() }
        }
        group.on(.notify) { request, context in
            let body = try await SandboxBody.decode(request, context, as: NotificationRequest.self)
            let demanded = try NotificationOnDemand(type: body.notificationType, subtype: body.subtype)
            let json = try await BlockingWork.run {
                try store.write {
                    try $0.notify(demanded, transactionIdentifier: body.transactionId, account: body.account).json()
                }
            }
            return JSONAnswer.response(bytes: json, status: .created)
        }
        group.on(.makeExternalToken) { request, context in
            let kind = try await SandboxBody.decode(request, context, as: ExternalTokenRequest.self).kind()
            let json = try await BlockingWork.run { try store.write { try $0.makeExternalPurchaseToken(kind).json() } }
            return JSONAnswer.response(bytes: json, status: .created)
        }
        group.on(.listExternalTokens) { _, _ in
            try await read { try List(try $0.externalPurchases.tokens()).json() }
        }
        group.on(.addFaults) { request, context in
            let faults = try await SandboxBody.decode(request, context, as: NotificationFaultsRequest.self)
                .notificationFaults()
            return try await write { try $0.add(faults) }
        }
        group.on(.replay) { _, context in
            let uuid = try context.parameters.require("uuid", as: UUID.self)
            return try await write { try $0.replay(uuid) }
        }
    }

    /// Adds a route that answers with something of an account.
    private func add(
        _ operation: APIOperation,
        to group: RouterGroup<ServiceContext>,
        _ body: @Sendable @escaping (Books, String) throws -> [UInt8]
    ) {
        group.on(operation) { _, context in
            let account = try context.parameters.text("account")
            return try await read { try body($0, account) }
        }
    }

    /// Changes the store, and answers without content.
    private func write(_ change: @Sendable @escaping (Books) throws -> Void) async throws -> HTTPResponse.Status {
        try await BlockingWork.run { try store.write(change) }
        return .noContent
    }

    private func read(_ json: @Sendable @escaping (Books) throws -> [UInt8]) async throws -> Response {
        JSONAnswer.response(bytes: try await BlockingWork.run { try store.read(json) })
    }
}

extension Store {
    /// Adds a payment to an account's queue. It fails if its signed request is refused.
    fileprivate func add(
        _ payment: Payment, with signed: SignedPurchaseRequest?, account: String, outcome: PaymentOutcome
    ) throws(StoreError) -> PaymentTransaction {
        // A payment that the customer cancels does not reach the App Store.
        if case .failed = outcome { return try add(payment, account: account, outcome: outcome) }
        guard let signed else { return try add(payment, account: account, outcome: outcome) }
        switch try read({ try $0.verdict(on: payment, with: signed, account: account) }) {
        case .refused(let error): return try add(payment, account: account, outcome: .failed(error))
        case .accepted(let payment, let nonce):
            return try add(payment, account: account, outcome: outcome, usingUp: nonce)
        }
    }
}

extension Books {
    /// The JSON of the payment queue.
    fileprivate func queue(of account: String?) throws -> [UInt8] {
        try List(try payments.transactions(account: account).map { try answer($0) }).json()
    }

    fileprivate func answer(_ queued: QueuedTransaction, effect: PurchaseEffect? = nil) throws -> QueueAnswer {
        let isSold = queued.transaction.purchase != nil
        return QueueAnswer(
            queued: queued, signedTransaction: isSold ? try signedTransaction(queued.transaction.identifier) : nil,
            effect: effect)
    }
}

/// The actions on one sale, or on its subscription, identified by the transaction identifier.
extension SandboxRoutes {
    private func addSales(to group: RouterGroup<ServiceContext>) {
        group.on(.readConsumption) { _, context in
            let id = try context.parameters.text("transaction")
            let text = try await BlockingWork.run { try store.read { try $0.consumption(of: id) } }
            return JSONAnswer.response(bytes: Array((text ?? "null").utf8))
        }
        group.on(.requestRetentionMessage) { request, context in
            let id = try context.parameters.text("transaction")
            let locale = try await SandboxBody.decode(request, context, as: RetentionRequest.self).locale
            return try await store.requestRetentionMessage(for: id, locale: locale).answer()
        }
        group.on(.deleteSale) { _, context in
            let id = try context.parameters.text("transaction")
            try await BlockingWork.run { try store.perform(.delete, on: id) }
            return HTTPResponse.Status.noContent
        }
        for (action, operation) in APIOperation.saleActions {
            group.on(operation) { request, context in
                let id = try context.parameters.text("transaction")
                let values = try await Self.values(of: action, request, context)
                // Answers with the sale after the action.
                let json = try await BlockingWork.run {
                    try store.perform(action, values, on: id)
                    return try store.read { try $0.sale(id).json() }
                }
                return JSONAnswer.response(bytes: json)
            }
        }
    }

    /// The parameters of an action, from the body of a request.
    private static func values(
        of action: TransactionAction,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> TransactionAction.Parameters {
        var values = TransactionAction.Parameters()
        switch action {
        case .requestRefund:
            values.requestReason = try await SandboxBody.decode(request, context, as: RefundRequest.self)
                .requestReason()
        case .refund:
            values = try await SandboxBody.decode(request, context, as: RefundRequest.self).refund()
        case .share: values.member = try await SandboxBody.decode(request, context, as: SharingRequest.self).account
        case .acceptInvitation:
            values.member = try await SandboxBody.decode(request, context, as: InvitationRequest.self).account
        case .changeSeats:
            values.seats = try await SandboxBody.decode(request, context, as: SeatsRequest.self).quantity
        case .requestPriceIncrease:
            let body = try await SandboxBody.decode(request, context, as: PriceIncreaseRequest.self)
            (values.price, values.needsConsent) = (body.price, body.needsConsent ?? true)
        default: break
        }
        return values
    }
}
