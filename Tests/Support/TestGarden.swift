import AppStore
import Catalog
import Foundation
import HTTPSupport
import Proofs
import Testing

/// An app with every kind of product (`Garden.storekit`), in a separate store whose time the test controls.
package struct TestGarden: Sendable {
    package static let bundleIdentifier = "com.example.garden"
    package static let file = Project.root.appending(path: "Tests/Support/Garden.storekit")

    package let folder: TemporaryFolder
    package let bundleIdentifier: String
    /// The service's catalog of the app.
    package let catalog: Catalog
    package let clock: ManualClock
    package let store: Store

    /// - Parameters:
    ///   - bundleIdentifier: Another one for a second app of the same products.
    ///   - gate: The number of the gate that `garden.gate` grants.
    ///   - seeds: The amount that one `garden.seeds` adds.
    ///   - offerings: The content of `Offerings.json`; nil for none.
    ///   - refundRules: The content of `RefundRules.json`; nil for none.
    ///   - retentionRules: The content of `RetentionRules.json`; nil for none.
    ///   - start: The start time, by default noon of 31 October 2026.
    ///   - appAppleIdentifier: The app's number in the App Store, for `Production`.
    ///   - shareable: The products that a family can share, besides the gate.
    package init(
        bundleIdentifier: String = Self.bundleIdentifier,
        gate: Int = 1,
        seeds: Int = 10,
        offerings: String? = nil,
        refundRules: String? = nil,
        retentionRules: String? = nil,
        start: String = "2026-10-31T12:00:00Z",
        environment: AppStoreEnvironment = .sandbox,
        appAppleIdentifier: Int64? = nil,
        randomness: Randomness = .seeded(7),
        shareable: Set<String> = [],
        isInMemory: Bool = false
    ) throws {
        folder = try TemporaryFolder(isInMemory: isInMemory)
        self.bundleIdentifier = bundleIdentifier
        catalog = try Self.catalog(
            of: bundleIdentifier, gate: gate, seeds: seeds, offerings: offerings, refundRules: refundRules,
            retentionRules: retentionRules, in: folder.folder("catalog"))
        clock = ManualClock(try #require(Timestamp(rfc3339: start)))
        try TestShop.installKeys(in: folder.folder("store"))
        store = try Store(
            folder: folder.folder("store"), bundleIdentifier: bundleIdentifier,
            configuration: try Self.configuration(sharing: shareable), environment: environment,
            appAppleIdentifier: appAppleIdentifier, clock: clock, randomness: randomness)
    }

    /// The garden's configuration, in which a family can share more products, sold with seats all the same.
    private static func configuration(sharing products: Set<String>) throws -> StoreKitConfiguration {
        guard !products.isEmpty else { return try StoreKitConfiguration(file: file.path) }
        func changed(_ value: Any) -> Any {
            if let list = value as? [Any] { return list.map(changed) }
            guard var object = value as? [String: Any] else { return value }
            object = object.mapValues(changed)
            if let product = object["productID"] as? String, products.contains(product) {
                object["familyShareable"] = true
                // The default depends on the other member.
                object["multiSeat"] = ["isEnabled": true]
            }
            return object
        }
        let json = try JSONSerialization.jsonObject(with: try Data(contentsOf: file))
        let data = try JSONSerialization.data(withJSONObject: changed(json))
        return try StoreKitConfiguration(json: Array(data), file: file.path)
    }

    /// The catalog without a product, which has another name instead.
    package func catalogWithout(_ product: String) throws -> Catalog {
        let other = folder.folder("catalog without \(product)")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        for name in [Catalog.configurationFile, Catalog.itemsFile] {
            let text = try String(contentsOf: folder.folder("catalog").appending(path: name), encoding: .utf8)
            try Data(text.replacing("\(product)\"", with: "\(product)x\"").utf8).write(
                to: other.appending(path: name))
        }
        return try Catalog(folder: other)
    }

    private static func catalog(
        of bundleIdentifier: String,
        gate: Int,
        seeds: Int,
        offerings: String?,
        refundRules: String?,
        retentionRules: String?,
        in folder: URL
    ) throws -> Catalog {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: file, to: folder.appending(path: Catalog.configurationFile))
        let items = """
            {
              "bundleId": "\(bundleIdentifier)",
              "ownedByEverybody": [ { "collection": "bed", "number": 0 } ],
              "items": [
                { "productID": "garden.gate", "collection": "gate", "number": \(gate) },
                { "productID": "garden.season", "collection": "bed", "number": 1, "duration": "P3M" },
                { "productID": "garden.basic.monthly", "collection": "plus", "number": 1 },
                { "productID": "garden.basic.yearly", "collection": "plus", "number": 1 },
                { "productID": "garden.premium.monthly", "collection": "plus", "number": 2 },
                { "productID": "garden.seeds", "balance": "seeds", "amount": \(seeds) }
              ]
            }
            """
        try Data(items.utf8).write(to: folder.appending(path: Catalog.itemsFile))
        if let offerings { try Data(offerings.utf8).write(to: folder.appending(path: Catalog.offeringsFile)) }
        if let refundRules {
            try Data(refundRules.utf8).write(to: folder.appending(path: Catalog.refundRulesFile))
        }
        if let retentionRules {
            try Data(retentionRules.utf8).write(to: folder.appending(path: Catalog.retentionRulesFile))
        }
        return try Catalog(folder: folder)
    }

    /// Buys a product and completes the payment.
    ///
    /// - Returns: The transaction in the customer's queue.
    @discardableResult
    package func buy(
        _ productIdentifier: String,
        quantity: Int = 1,
        offer: Payment.OfferChoice? = nil,
        appAccountToken: UUID? = nil,
        billingPlanType: BillingPlanType? = nil,
        account: String = "alice"
    ) throws -> PaymentTransaction {
        let added = try store.add(
            Payment(
                productIdentifier: productIdentifier, quantity: quantity, appAccountToken: appAccountToken,
                billingPlanType: billingPlanType, offer: offer), account: account)
        return try #require(try store.process(account: account).first { $0.identifier == added.identifier })
    }

    /// Advances the time to a moment.
    package func advance(to date: String) throws {
        let moment = try #require(Timestamp(rfc3339: date))
        _ = try store.advance(seconds: moment.secondsSince1970 - store.now.secondsSince1970)
    }

    /// The verified notifications so far.
    package func notifications() throws -> [ResponseBodyV2DecodedPayload] {
        let verifier = try verifier()
        return try store.notifications().map { notification in
            let proof = try verifier.verify(
                Array(notification.signedPayload.utf8),
                expecting: ProofExpectations(bundleIdentifier: bundleIdentifier, environment: .sandbox))
            guard case .notification(let payload) = proof.content else { throw TestGardenError.notNotification }
            return payload
        }
    }

    /// A verifier that trusts this store.
    ///
    /// - Parameters:
    ///   - chains: Chains whose roots are trusted, too.
    ///   - appKeys: The trusted keys of apps on Google Play.
    ///   - clock: The clock, by default the latest of the store's.
    package func verifier(
        trusting chains: [CertificateChain] = [],
        appKeys: [AppKey] = [],
        clock: (any WallClock)? = nil
    ) throws -> ProofVerifier {
        let roots = store.rootCertificates + chains.map(\.root.certificate)
        return ProofVerifier(
            anchors: try TrustAnchors(roots.compactMap { try TrustAnchor($0) }), appKeys: appKeys,
            clock: clock ?? store.latestClock)
    }

    package func transaction(_ compact: String) throws -> JWSTransactionDecodedPayload {
        guard case .transaction(let payload) = try verify(compact) else { throw TestGardenError.notTransaction }
        return payload
    }

    package func renewalInfo(_ compact: String) throws -> JWSRenewalInfoDecodedPayload {
        guard case .renewalInfo(let payload) = try verify(compact) else { throw TestGardenError.notRenewalInfo }
        return payload
    }

    @discardableResult
    package func verify(_ compact: String) throws -> VerifiedProof.Content {
        try verifier().verify(Array(compact.utf8), expecting: ProofExpectations()).content
    }
}

package enum TestGardenError: Error {
    case notAppTransaction
    case notNotification
    case notTransaction
    case notRenewalInfo
}
