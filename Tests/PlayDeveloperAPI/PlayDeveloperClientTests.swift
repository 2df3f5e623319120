import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The client of the Play Developer API against the local Play, over a socket.
@Suite struct PlayDeveloperClientTests {
    private let server: PlayServer
    private let client: PlayDeveloperClient

    init() async throws {
        server = try await PlayServer()
        client = try server.client()
    }

    private func error(_ call: () async throws -> Void) async -> PlayDeveloperError? {
        do {
            try await call()
            return nil
        } catch {
            return error as? PlayDeveloperError
        }
    }

    @Test func `a one-time purchase is stated with its price, and acknowledged`() async throws {
        let bought = try server.buy {
            $0.quantity = 3
            $0.obfuscatedAccountId = "ada-1"
        }
        let statement = try await client.statement(about: bought.token)
        #expect(statement.state == .purchased && !statement.isSubscription)
        #expect(statement.origin == .localPlayProduction && statement.obfuscatedAccountId == "ada-1")
        #expect(!statement.isAcknowledged && statement.acknowledgeBy == bought.acknowledgementDeadline)
        let purchase = try #require(statement.purchases.first).purchase
        #expect(purchase.productIdentifier == "garden.seeds" && purchase.quantity == 3)
        #expect(purchase.transactionIdentifier == PurchaseTokenNames.test.name(of: bought.token))
        #expect(purchase.purchaseDate == bought.purchaseTime)
        #expect(purchase.facts.text(.orderId) == bought.orderId)
        #expect(purchase.facts.integer(.price) == 3 * bought.terms.price.price.milliunits)
        #expect(purchase.facts.text(.currency) == bought.terms.price.currencyCode)

        try await client.acknowledge(bought.token, of: "garden.seeds", as: .product)
        #expect(try await client.statement(about: bought.token, as: .product).isAcknowledged)
        #expect(
            await error { try await client.acknowledge(bought.token, of: "garden.seeds", as: .product) }
                == .stateInvalid)
        try await client.consume(bought.token, of: "garden.seeds")
        #expect(try await client.statement(about: bought.token).purchases.first?.isConsumed == true)
        #expect(await error { try await client.consume(bought.token, of: "garden.seeds") } == .stateInvalid)
    }

    @Test func `a pending purchase, a test purchase and a refund are told apart`() async throws {
        let pending = try server.buy { $0.isPending = true }
        let before = try await client.statement(about: pending.token)
        #expect(before.state == .pending && before.purchases.isEmpty)
        #expect(
            await error { try await client.acknowledge(pending.token, of: "garden.seeds", as: .product) }
                == .stateInvalid)
        _ = try server.play.perform { try $0.cancel(pending.number) }
        #expect(try await client.statement(about: pending.token).state == .paymentCanceled)

        let test = try server.buy { $0.isTest = true }
        #expect(try await client.statement(about: test.token).origin == .localPlayTest)
        _ = try server.play.perform { try $0.refund(test.number) }
        let voided = try await client.statement(about: test.token)
        #expect(voided.state == .voided && voided.acknowledgeBy == nil)
        #expect(voided.purchases.first?.purchase.revocationDate == server.clock.now())
    }

    @Test func `a rental is stated with the end of its period in the catalog`() async throws {
        try server.offerRental("P2D", expiration: "PT6H")
        let rented = try server.buy("garden.gate") { $0.purchaseOptionId = "rent" }
        let purchase = try #require(try await client.statement(about: rented.token).purchases.first).purchase
        #expect(purchase.expiresDate == rented.purchaseTime.adding(days: 2) && purchase.expiresDate == rented.rentalEnd)
        #expect(purchase.facts.bool(.isRental) == true && purchase.facts.text(.purchaseOptionId) == "rent")
        // The expiration period begins with the consumption.
        server.clock.advance(milliseconds: 3600_000)
        try await client.consume(rented.token, of: "garden.gate")
        let consumed = try await client.statement(about: rented.token).purchases.first?.purchase
        #expect(consumed?.expiresDate == server.clock.now().adding(seconds: 6 * 3600))
        #expect(consumed?.expiresDate == (try server.play.perform { try $0.purchase(rented.number).rentalEnd }))
    }

    @Test func `a product is bought without a question about the catalog`() async throws {
        try server.offerRental("P2D")
        let bought = try server.buy("garden.gate")
        #expect(bought.terms.purchaseOptionId == "buy")
        #expect(try await client.statement(about: bought.token).purchases.first?.purchase.expiresDate == nil)
        #expect(server.count("oneTimeProducts") == 0)
    }

    @Test func `an account that may not see the catalog does not know the end of a rental`() async throws {
        try server.offerRental("P2D")
        let rented = try server.buy("garden.gate") { $0.purchaseOptionId = "rent" }
        server.answer("oneTimeProducts", .error(401, "permissionDenied"), .error(404, "notFound"))
        for _ in 0..<2 {
            let statement = try await client.statement(about: rented.token)
            #expect(statement.purchases.isEmpty && statement.refusal?.reason == .purchaseKindUnsupported)
        }
        server.answer("oneTimeProducts", .error(503, "backendError"), .error(503, "backendError"))
        #expect(
            await error { _ = try await client.statement(about: rented.token) } == .failed(status: 503))
        #expect(try await client.statement(about: rented.token).refusal == nil)
    }

    @Test func `a subscription is stated through grace, hold and its end`() async throws {
        let bought = try server.subscribe()
        func stated() async throws -> GooglePlayStatement {
            try await client.statement(about: bought.token, as: .subscription)
        }
        try await client.acknowledge(bought.token, of: bought.terms.productId, as: .subscription)
        let active = try await stated()
        let first = try #require(active.purchases.first).purchase
        #expect(active.state == .active && active.isAcknowledged)
        #expect(first.transactionIdentifier == bought.periods.first?.orderId)
        #expect(first.originalTransactionIdentifier == PurchaseTokenNames.test.name(of: bought.token))
        #expect(first.purchaseDate == bought.startTime && first.expiresDate == bought.expiryTime)
        #expect(first.facts.integer(.price) == bought.terms.price.price.milliunits)
        #expect(active.purchases.first?.renewal?.facts.integer(.autoRenewStatus) == 1)

        server.clock.advance(milliseconds: 32 * 86_400_000)
        let renewed = try #require(try await stated().purchases.first).purchase
        let end = try #require(renewed.expiresDate)
        #expect(renewed.transactionIdentifier.hasSuffix("..0") && renewed.purchaseDate == bought.expiryTime)
        #expect(renewed.originalTransactionIdentifier == first.originalTransactionIdentifier)
        #expect(end > server.clock.now())

        _ = try server.play.perform { try $0.perform(.declinePayments, on: bought.number) }
        server.clock.advance(milliseconds: 30 * 86_400_000)
        let grace = try await stated()
        let current = try server.play.perform { try $0.subscription(bought.number) }
        #expect(grace.state == .inGracePeriod && current.expiryTime > server.clock.now())
        #expect(grace.purchases.first?.purchase.transactionIdentifier == renewed.transactionIdentifier)
        #expect(grace.purchases.first?.purchase.expiresDate == end)
        #expect(grace.purchases.first?.renewal?.facts.date(.gracePeriodExpiresDate) == current.expiryTime)

        server.clock.advance(milliseconds: 3 * 86_400_000)
        let hold = try await stated()
        #expect(hold.state == .onHold && hold.purchases.first?.purchase.expiresDate == end)
        #expect(hold.purchases.first?.renewal?.facts.bool(.isInBillingRetryPeriod) == true)

        server.clock.advance(milliseconds: 31 * 86_400_000)
        let ended = try await stated()
        #expect(ended.state == .expired && ended.purchases.first?.purchase.revocationDate == nil)
        #expect(ended.purchases.first?.renewal?.facts.integer(.expirationIntent) == 2)
        server.clock.advance(milliseconds: 70 * 86_400_000)
        #expect(await error { _ = try await client.statement(about: bought.token) } == .tokenEnded)
    }

    @Test func `a refunded subscription is taken back, and listed as voided`() async throws {
        let (bought, seeds) = (try server.subscribe(), try server.buy())
        server.clock.advance(milliseconds: 86_400_000)
        _ = try server.play.perform { try $0.perform(.refund, on: bought.number) }
        _ = try server.play.perform { try $0.refund(seeds.number) }
        let statement = try await client.statement(about: bought.token)
        let purchase = try #require(statement.purchases.first).purchase
        #expect(statement.state == .expired && purchase.revocationDate == server.clock.now())
        #expect(purchase.facts.text(.revocationType) == "REFUND_FULL")
        let page = try await client.voidedPurchases(since: server.clock.now().adding(days: -2))
        #expect(Set(page.purchases.map(\.purchaseToken)) == [bought.token, seeds.token])
        #expect(page.purchases.map(\.voidedAt) == [server.clock.now(), server.clock.now()])
        #expect(page.nextPageToken == nil)
        #expect(server.requests.last?.contains("startTime=") == true)
        #expect(server.requests.last?.contains("includeQuantityBasedPartialRefund=true") == true)
        // The clock of the local Play is moved by hand.
        let step = try #require(TimeStep("50d"))
        _ = try server.play.perform { try $0.advance(step) }
        let later = try await client.voidedPurchases(since: server.clock.now().adding(days: -2))
        #expect(later.purchases.isEmpty)
        #expect(server.requests.last?.contains("startTime=") == false)
        _ = try await client.voidedPurchases(since: nil)
        #expect(server.requests.last?.contains("startTime=") == false)
    }

    @Test func `a voided purchase in another form is counted, and holds up no other`() async throws {
        let garden = try TestGarden(isInMemory: true)
        let app = App(garden.catalog)
        let service = EntitlementService(
            apps: Apps(app), verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: server.clock),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: server.clock,
            accepted: AcceptedOrigins([.localPlayProduction]))
        let played = GooglePlayApp(client: client, app: app, entitlements: service)
        let bought = try server.buy("garden.gate")
        try await played.redeem(bought.token, for: try #require(User(name: "alice")))
        server.clock.advance(milliseconds: 1000)
        let page = """
            {"voidedPurchases":[{"purchaseToken":5},
            {"purchaseToken":"\(bought.token)","voidedTimeMillis":"\(server.clock.now().millisecondsSince1970)"}]}
            """
        server.answer("voidedpurchases", .init(status: 200, body: Array(page.utf8)))
        let report = try await played.reconciler.recordVoidedPurchases()
        #expect(report.outcomes == ["googlePlayAnswerInvalid": 1, "revoked": 1])
    }

    @Test func `a known price costs no request for its order, until the purchase ends`() async throws {
        let bought = try server.subscribe()
        let known: Set = [try #require(bought.periods.first).orderId]
        let statement = try await client.statement(about: bought.token, as: .subscription, pricedOrders: known)
        #expect(statement.purchases.first?.purchase.purchaseDate == bought.startTime)
        #expect(statement.purchases.first?.purchase.facts[.price] == nil)
        #expect(server.count("/orders/") == 0)
        _ = try server.play.perform { try $0.perform(.refund, on: bought.number) }
        let ended = try await client.statement(about: bought.token, as: .subscription, pricedOrders: known)
        #expect(ended.purchases.first?.purchase.revocationDate != nil)
        #expect(server.count("/orders/") == 1)
    }

    @Test func `a replaced purchase and its successor name each other`() async throws {
        let first = try server.subscribe()
        try await client.acknowledge(first.token, of: first.terms.productId, as: .subscription)
        _ = try server.play.perform { try $0.perform(.cancel, on: first.number) }
        let second = try server.subscribe()
        let statement = try await client.statement(about: second.token, originalToken: first.token)
        #expect(statement.linkedPurchaseToken == first.token)
        #expect(
            statement.purchases.first?.purchase.originalTransactionIdentifier
                == PurchaseTokenNames.test.name(of: first.token))
        let replaced = try await client.statement(about: first.token)
        #expect(replaced.isReplaced && replaced.state == .expired)
        #expect(replaced.purchases.first?.purchase.revocationDate == nil)
    }

    @Test func `orders that the account may not see have no price`() async throws {
        let bought = try server.buy()
        for answer in [
            PlayServer.Scripted.error(403, "userInsufficientPermission"), .error(401, "permissionDenied"),
            .error(404, "notFound"),
        ] {
            server.answer("/orders/", answer)
            let purchase = try #require(try await client.statement(about: bought.token).purchases.first).purchase
            #expect(purchase.facts[.price] == nil && purchase.purchaseDate == bought.purchaseTime)
        }
    }
}
