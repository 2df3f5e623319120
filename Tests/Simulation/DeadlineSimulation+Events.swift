import AppStore
import Entitlements
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import TestSupport
import Vocabulary

/// What customers, stores and back ends do.
extension DeadlineSimulation {
    /// The pauses of the App Store before it sends a notification again, in hours (App Store Server Notifications, "Responding to App
    /// Store Server Notifications").
    private static let repetitions: [Int64] = [1, 12, 24, 48, 72]
    /// The pause of an app or a back end that does not reach the service, in seconds.
    private static let retrySeconds: Int64 = 1800

    func handle(_ event: Event) async throws {
        switch event {
        case .nightBegins: setNight(true)
        case .nightEnds: setNight(false)
        case .crash(let seconds): try await crash(for: seconds)
        case .outage(let store, let state, let seconds): changeWeather(of: store, to: state, for: seconds)
        case .look: break
        case .buyAtPlay: try buyAtPlay()
        case .redeem(let purchase): try await redeem(purchase)
        case .dispute: try dispute()
        case .push(let duty, let token): try await push(duty, token)
        case .buyAtAppStore: try await buyAtAppStore()
        case .requestRefund: try requestRefund()
        case .collect: try collect()
        case .post(let notification, let attempt): try await post(notification, attempt)
        case .reportTransaction: try await reportTransaction()
        case .makeToken: try makeToken()
        case .announce(let token): try await announce(token)
        case .reportToken(let token): try await reportToken(token)
        case .lastDay(let token): try beginLastDay(of: token)
        }
    }

    /// A name that no other one begins with.
    private func nextName(_ kind: String) -> String {
        serial += 1
        let digits = String(serial)
        return kind + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    private func user(_ name: String) throws -> User {
        guard let user = CustomerIdentifier(name)?.user else { throw SimulationError.broken("\(name) is no name") }
        return user
    }

    // MARK: Google Play

    private func buyAtPlay() throws {
        let account = nextName("player")
        let bought = try play.perform {
            try $0.buy(
                PlayPurchaseOrder(
                    packageName: TestGarden.bundleIdentifier, productId: "garden.gate", account: account))
        }
        guard let order = bought.orderId else { throw SimulationError.broken("a payment is not pending") }
        purchases.append(Purchase(number: bought.number, token: bought.token, order: order, account: account))
        tell("\(account) buys \(order)")
        add(.redeem(purchase: purchases.count - 1), at: now)
    }

    /// The app presents the token, again and again until the service answers.
    private func redeem(_ index: Int) async throws {
        let purchase = purchases[index]
        let bought = try play.perform { try $0.purchase(purchase.number) }
        guard let deadline = bought.acknowledgementDeadline else { return }
        guard let running, isUp(.googlePlay) else { return add(.redeem(purchase: index), at: now + Self.retrySeconds) }
        let door = RedemptionDoor(running.service, asking: [running.app], counting: metrics)
        let proof = try GooglePlayToken(purchaseToken: purchase.token).json.compactBytes
        _ = try await door.redeem(RedemptionRequest(proof, for: try user(purchase.account), by: .user))
        purchases[index].isRedeemed = true
        let name = try await running.app.purchases.tokenNames.name(of: purchase.token)
        duties.append(
            Duty(
                kind: .acknowledgement, store: .googlePlay, mark: purchase.token, subject: name, beganAt: now,
                deadline: seconds(deadline), knownAt: now))
        tell("\(purchase.account) redeems")
        noteChange()
    }

    private func dispute() throws {
        let candidates = try purchases.indices.filter { index in
            guard purchases[index].isRedeemed, !purchases[index].isDisputed else { return false }
            let purchase = try play.perform { try $0.purchase(purchases[index].number) }
            // A payment that is refunded is not acknowledged any more.
            return purchase.isAcknowledged && purchase.refundableQuantity > 0
        }
        guard let index = dice.pick(candidates) else { return }
        purchases[index].isDisputed = true
        let order = purchases[index].order
        let review = try play.perform { try $0.dispute(order: order) }
        duties.append(
            Duty(
                kind: .refundReview, store: .googlePlay, mark: order, subject: order, beganAt: now,
                deadline: seconds(review.deadline)))
        tell("the payment of \(order) is disputed")
        add(.push(duty: duties.count - 1, token: review.pendingRefundToken), at: now)
    }

    private func push(_ index: Int, _ token: String) async throws {
        guard let running else {
            return add(.push(duty: index, token: token), at: now + Self.pushSeconds)
        }
        let duty = duties[index]
        try await running.app.purchases.record(
            reviewOf: duty.subject, token, notifiedAs: "push-\(index)", from: .localPlayProduction,
            at: moment(duty.beganAt))
        duties[index].knownAt = now
        noteChange()
    }

    private func reportTransaction() async throws {
        guard let running else { return add(.reportTransaction, at: now + Self.retrySeconds) }
        let name = nextName("sale-")
        let package = garden.bundleIdentifier
        let token = try play.perform { try $0.makeExternalTransactionToken(of: package, in: .alternativeBillingOnly) }
        let amount: JSONValue = .object(["currency": "USD", "priceMicros": "9990000"])
        let content: JSONObject = [
            "transactionTime": .string(moment(now).rfc3339), "originalPreTaxAmount": amount,
            "originalTaxAmount": amount, "userTaxAddress": .object(["regionCode": "US"]),
            "oneTimeTransaction": .object([
                "externalTransactionToken": .string(token.externalTransactionToken)
            ]),
        ]
        let purchases = running.app.purchases
        _ = try await purchases.entitlements.record(
            ExternalTransactionReport(
                purchases.key(ofExternalTransaction: name, .sale, in: .localPlay), of: garden.bundleIdentifier,
                content, occurredAt: moment(now), reportedAt: moment(now), by: "K"))
        duties.append(
            Duty(
                kind: .externalTransaction, store: .googlePlay, mark: name, subject: name, beganAt: now,
                deadline: now + Self.day, knownAt: now))
        tell("a back end reports \(name)")
        noteChange()
    }

    // MARK: The App Store

    private func buyAtAppStore() async throws {
        guard let running else { return }
        let account = nextName("buyer")
        let bought = try garden.buy("garden.gate", account: account)
        guard let identifier = bought.purchase?.transactionIdentifier else {
            throw SimulationError.broken("a payment is not pending")
        }
        _ = try await running.service.redeem(
            Array(try garden.store.signedTransaction(bought.identifier).utf8), for: try user(account))
        transactions.append((identifier, false))
        tell("\(account) buys \(identifier)")
        add(.collect, at: now)
        noteChange()
    }

    private func requestRefund() throws {
        guard let index = dice.pick(transactions.indices.filter { !transactions[$0].isAsked }) else { return }
        transactions[index].isAsked = true
        let identifier = transactions[index].identifier
        try garden.store.requestRefund(of: identifier)
        duties.append(
            Duty(
                kind: .consumptionAnswer, store: .appStore, mark: identifier, subject: identifier, beganAt: now,
                deadline: now + ReceivedNotification.answerTime))
        tell("a refund of \(identifier) is requested")
        try collect()
    }

    /// Sends the new notifications of the App Store.
    private func collect() throws {
        // A reminder is due by the store's time.
        _ = try garden.store.write { _ in }
        for notification in try garden.store.notifications() where notification.number > lastNotification {
            lastNotification = notification.number
            let duty = duties.lastIndex {
                notification.type == .consumptionRequest && $0.kind == .consumptionAnswer
                    && $0.subject == notification.transactionIdentifier
            }
            notifications.append((notification.signedPayload, duty, false))
            add(.post(notification: notifications.count - 1, attempt: 0), at: now)
        }
    }

    private func post(_ index: Int, _ attempt: Int) async throws {
        guard !notifications[index].isReceived else { return }
        guard let running, isUp(.appStore) else {
            guard attempt < Self.repetitions.count else { return }
            return add(
                .post(notification: index, attempt: attempt + 1), at: now + Self.repetitions[attempt] * 3600)
        }
        _ = try await running.service.receive(notification: Array(notifications[index].payload.utf8))
        received(index)
        noteChange()
    }

    // MARK: External purchases

    private func makeToken() throws {
        let token = try garden.store.write { try $0.makeExternalPurchaseToken(nil) }
        tokens.append(Token(token: token))
        let index = tokens.count - 1
        tell("an app gets \(token.externalPurchaseId)")
        // Of a token that no back end makes known, Apple tells after ten days.
        if dice.happens(70) { add(.announce(token: index), at: now) }
        add(.collect, at: now + 10 * Self.day + 60)
        add(.lastDay(token: index), at: now + 14 * Self.day)
    }

    private func announce(_ index: Int) async throws {
        guard let running else { return add(.announce(token: index), at: now + Self.retrySeconds) }
        let token = tokens[index].token
        _ = try await running.service.announce(
            ExternalPurchase.Token(
                identifier: token.externalPurchaseId, type: nil, createdAt: token.creationDate, expiresAt: nil),
            of: garden.bundleIdentifier)
        if dice.happens(60) { add(.reportToken(index), at: now + Int64(dice.number(below: Int(8 * Self.day)))) }
    }

    private func reportToken(_ index: Int) async throws {
        guard let running else { return add(.reportToken(index), at: now + Self.retrySeconds) }
        let (name, identifier) = (nextName("line-"), tokens[index].token.externalPurchaseId)
        let number = String(serial)
        let request = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - number.count) + number
        let item: JSONObject = [
            "lineItemId": .string(name), "creationDate": .integer(moment(now).millisecondsSince1970),
            "eventType": "BUY", "productType": "ONE_TIME_BUY", "productIdentifier": "garden.gate",
            "amountTaxInclusive": .integer(10_000), "amountTaxExclusive": .integer(8000),
            "taxAmount": .integer(2000), "netAmountTaxExclusive": .integer(8000), "reportingCurrency": "EUR",
            "pricingCurrency": "EUR", "taxCountry": "ESP", "quantity": .integer(1),
        ]
        let report = try await running.service.report(
            .lineItem, [item], about: identifier, as: request, of: nil, by: "K"
        ) { _ in }
        tokens[index].isReported = true
        duties.append(
            Duty(
                kind: .externalPurchase, store: .appStore, mark: identifier, subject: identifier, beganAt: now,
                deadline: seconds(report.dueAt), knownAt: now))
        tell("a back end reports \(identifier)")
        noteChange()
    }

    /// The service has to report a token that it knows, and that no back end has reported.
    private func beginLastDay(of index: Int) throws {
        let identifier = tokens[index].token.externalPurchaseId
        let isKnown = try ledger.readNow {
            try $0.database.hasRow("SELECT 1 FROM external_purchase WHERE external_purchase_id = $1", [identifier])
        }
        guard isKnown, !tokens[index].isReported else { return }
        duties.append(
            Duty(
                kind: .externalPurchase, store: .appStore, mark: identifier, subject: identifier, beganAt: now,
                deadline: now + Self.day, knownAt: now))
        tokens[index].isReported = true
        tell("nobody has reported \(identifier)")
    }
}
