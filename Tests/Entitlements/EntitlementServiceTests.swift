import Catalog
import Entitlements
import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

@Suite struct EntitlementServiceTests {
    let shop: TestShop
    let service: EntitlementService
    let alice: User
    let bob: User

    init() throws {
        shop = try TestShop()
        service = EntitlementService(
            apps: Apps(App(shop.catalog)), verifier: try shop.verifier(),
            ledger: try Ledger(file: shop.folder.file("ledger.sqlite")), clock: shop.clock)
        alice = try #require(User(name: "alice"))
        bob = try #require(User(name: "bob"))
    }

    private func buy(_ product: String, account: String = "alice") throws -> PaymentTransaction {
        _ = try shop.store.add(Payment(productIdentifier: "com.memolease.sesac1.\(product)"), account: account)
        return try #require(try shop.store.process(account: account).first)
    }

    private func receipt(_ account: String = "alice") throws -> [UInt8] {
        Array(try shop.store.receipt(account: account).utf8)
    }

    /// A service on the same ledger that trusts another chain.
    private func service(trusting chain: CertificateChain) throws -> EntitlementService {
        EntitlementService(
            apps: Apps(App(shop.catalog)),
            verifier: ProofVerifier(anchors: try TestChains.anchors(chain), clock: shop.clock),
            ledger: try Ledger(file: shop.folder.file("ledger.sqlite")), clock: shop.clock)
    }

    static let free = [Item(collection: "background", number: 0), Item(collection: "sprout", number: 0)]

    @Test func `a receipt grants its items once`() async throws {
        _ = try buy("sprout1")
        _ = try buy("background7")
        let first = try await service.redeem(try receipt(), for: alice)
        #expect(first.outcome == .granted)
        #expect(first.transactions.map(\.result) == [.granted, .granted])
        #expect(
            first.items == [
                Item(collection: "background", number: 0), Item(collection: "background", number: 7),
                Item(collection: "sprout", number: 0), Item(collection: "sprout", number: 1),
            ])
        let second = try await service.redeem(try receipt(), for: alice)
        #expect(second.outcome == .unchanged)
        #expect(second.items == first.items)
        #expect(try await service.items(of: alice).map(\.item) == first.items)
    }

    @Test func `a signed transaction and the receipt are the same purchase`() async throws {
        let bought = try buy("sprout1")
        let transaction = Array(try shop.store.signedTransaction(bought.identifier).utf8)
        #expect(try await service.redeem(transaction, for: alice).outcome == .granted)
        #expect(try await service.redeem(try receipt(), for: alice).outcome == .unchanged)
    }

    @Test func `another user's purchase is refused with its own code`() async throws {
        _ = try buy("sprout1")
        _ = try await service.redeem(try receipt(), for: alice)
        await #expect {
            try await service.redeem(try receipt(), for: bob)
        } throws: { error in
            (error as? RedemptionError)?.code == "ownedByAnotherUser"
        }
        #expect(try await service.items(of: bob).map(\.item) == Self.free)
        // The same account buys the product again for free. The first owner keeps it.
        let again = try buy("sprout1")
        let transaction = Array(try shop.store.signedTransaction(again.identifier).utf8)
        await #expect {
            try await service.redeem(transaction, for: bob)
        } throws: { error in
            (error as? RedemptionError)?.code == "ownedByAnotherUser"
        }
    }

    @Test func `new purchases are granted beside those of another user`() async throws {
        _ = try buy("sprout1")
        _ = try await service.redeem(try receipt(), for: alice)
        _ = try buy("sprout2")
        let redemption = try await service.redeem(try receipt(), for: bob)
        #expect(redemption.outcome == .granted)
        #expect(
            redemption.transactions.map(\.result).sorted { $0.rawValue < $1.rawValue } == [
                .granted, .ownedByAnotherUser,
            ])
        #expect(try await service.items(of: bob).map(\.item) == Self.free + [Item(collection: "sprout", number: 2)])
    }

    @Test func `a receipt with another user's purchases is partly refused, not unchanged`() async throws {
        let first = try buy("sprout1")
        _ = try await service.redeem(Array(try shop.store.signedTransaction(first.identifier).utf8), for: alice)
        let second = try buy("sprout2")
        _ = try await service.redeem(Array(try shop.store.signedTransaction(second.identifier).utf8), for: bob)
        #expect(try await service.redeem(try receipt(), for: bob).outcome == .partlyRefused)
    }

    @Test func `an authentic receipt without purchases has nothing to redeem`() async throws {
        let redemption = try await service.redeem(try receipt(), for: alice)
        #expect(redemption.outcome == .nothingToRedeem)
        #expect(redemption.transactions == [])
        #expect(redemption.items == Self.free)
    }

    @Test func `a product that is not in the catalog is refused`() async throws {
        let chain = try TestChains.ellipticCurve.get()
        let service = try service(trusting: chain)
        let unknown = try TestProofs.transaction(TestProofs.transactionPayload(productId: "other"), chain: chain)
        await #expect {
            try await service.redeem(unknown, for: alice)
        } throws: { error in
            (error as? RedemptionError)?.code == "productUnknown"
        }
        let foreign = try TestProofs.transaction(
            TestProofs.transactionPayload(changing: ["bundleId": "com.example"]), chain: chain)
        await #expect {
            try await service.redeem(foreign, for: alice)
        } throws: { error in
            (error as? RedemptionError)?.code == "bundleIdentifierMismatch"
        }
        #expect(try await service.items(of: alice).map(\.item) == Self.free)
    }

    @Test func `a refunded transaction grants nothing`() async throws {
        let chain = try TestChains.ellipticCurve.get()
        let service = try service(trusting: chain)
        let good = try TestProofs.transaction(chain: chain)
        let refunded = try TestProofs.transaction(
            TestProofs.transactionPayload(changing: ["revocationDate": .integer(1_780_000_000_000)]), chain: chain)
        #expect(try await service.redeem(good, for: alice).outcome == .granted)
        let redemption = try await service.redeem(refunded, for: alice)
        #expect(redemption.outcome == .revoked)
        #expect(redemption.transactions.map(\.result) == [.revoked])
        #expect(redemption.items == Self.free)
        #expect(try await service.redeem(good, for: alice).items == Self.free)
    }

    @Test func `a proof with an untrusted chain changes nothing`() async throws {
        let stranger = try TestChains.make(name: "Stranger")
        await #expect {
            try await service.redeem(try TestProofs.transaction(chain: stranger), for: alice)
        } throws: { error in
            guard case .refused(let refusal) = error as? RedemptionError else { return false }
            return refusal.reason == .chainUntrusted
        }
    }

    @Test func `a notification cannot be redeemed`() async throws {
        let chain = try TestChains.ellipticCurve.get()
        let service = try service(trusting: chain)
        let notification = try SignedJSON.sign(
            .object([
                "notificationType": "TEST", "notificationUUID": "u", "signedDate": .integer(1_780_000_000_000),
                "data": .object(["bundleId": .string(TestProofs.bundleIdentifier), "environment": "Sandbox"]),
            ]), with: chain.leaf.key, chain: chain.certificates)
        await #expect(throws: RedemptionError.notRedeemable) {
            try await service.redeem(Array(notification.utf8), for: alice)
        }
    }

    @Test func `sandbox purchases are accepted only for reviewers`() async throws {
        let reviewed = AcceptedOrigins([.localProduction], sandboxUsers: [alice])
        func service(_ accepted: AcceptedOrigins) throws -> EntitlementService {
            EntitlementService(
                apps: Apps(App(shop.catalog)), verifier: try shop.verifier(),
                ledger: try Ledger(file: shop.folder.file("ledger.sqlite")), clock: shop.clock, accepted: accepted
            )
        }
        let (selling, sellingAlone) = (try service(reviewed), try service(AcceptedOrigins([.localProduction])))
        _ = try buy("sprout1")
        let sprout1 = Item(collection: "sprout", number: 1)
        func refusal(of user: User, by service: EntitlementService) async throws -> String? {
            let proof = try receipt()
            do {
                _ = try await service.redeem(proof, for: user)
                return nil
            } catch let error as RedemptionError {
                return error.code
            }
        }
        #expect(try await selling.redeem(try receipt(), for: alice).items.contains(sprout1))
        #expect(try await refusal(of: bob, by: selling) == "originNotAccepted")
        #expect(try await refusal(of: alice, by: sellingAlone) == "originNotAccepted")
        #expect(try await selling.items(of: alice).map(\.item).contains(sprout1))
        // A former reviewer owns nothing from the sandbox.
        #expect(try await sellingAlone.items(of: alice).map(\.item) == Self.free)
    }

    @Test func `the service applies its ownership policy`() async throws {
        let lenient = EntitlementService(
            apps: Apps(App(shop.catalog)), verifier: try shop.verifier(),
            ledger: try Ledger(file: shop.folder.file("ledger.sqlite")), clock: shop.clock,
            policy: .transfer(pauseSeconds: 60))
        _ = try buy("sprout1")
        #expect(try await service.redeem(try receipt(), for: alice).outcome == .granted)
        await #expect(throws: RedemptionError.purchaseRefused(.ownedByAnotherUser)) {
            try await service.redeem(try receipt(), for: bob)
        }
        #expect(try await lenient.redeem(try receipt(), for: bob).outcome == .granted)
        await #expect(throws: RedemptionError.purchaseRefused(.transferTooSoon)) {
            try await lenient.redeem(try receipt(), for: alice)
        }
        #expect(try await service.items(of: alice).map(\.item) == Self.free)
    }
}
