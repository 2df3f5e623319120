import Catalog
import Ledger
import Proofs
import Vocabulary

/// A verified question of the App Store for a retention message, about a subscription in one of the service's apps.
package struct RetentionQuestion: Sendable {
    package let app: App
    package let origin: Origin
    package let content: DecodedRealtimeRequestBody

    /// The facts of the question.
    ///
    /// - Parameter ownership: The facts of the ledger; nil if it has not told them.
    package func facts(_ ownership: RetentionFacts.Ownership?) -> RetentionFacts {
        RetentionFacts(product: content.productId, locale: content.userLocale, ownership: ownership)
    }
}

extension EntitlementService {
    /// Verifies a question for a retention message. It uses the processor, not the ledger.
    package func retentionQuestion(in proof: [UInt8]) throws(RedemptionError) -> RetentionQuestion {
        let verified = try verify(proof)
        guard case .realtimeRequest(let content) = verified.content else {
            throw .refused(ProofRefusal(.payloadInvalid, "The payload must be a realtime request."))
        }
        guard let app = apps.app(asking: content.appAppleId, about: content.productId, from: verified.origin) else {
            throw .refused(
                ProofRefusal(
                    .bundleIdentifierMismatch,
                    "Its appAppleId is \(content.appAppleId), and no app of the service has this app-apple-id."))
        }
        return RetentionQuestion(app: app, origin: verified.origin, content: content)
    }

    /// The facts of the ledger about the subscription of a question.
    package func retentionOwnership(of question: RetentionQuestion) async throws -> RetentionFacts.Ownership {
        let now = clock.now()
        return try await ledger.read {
            try $0.retentionOwnership(
                of: TransactionKey(
                    app: question.app.bundleIdentifier, origin: question.origin,
                    identifier: question.content.originalTransactionId), at: now)
        }
    }
}

extension Apps {
    /// The app of a question for a retention message: "Always check that the appAppleId in the request matches your app's appAppleId"
    /// (Retention Messaging API, `DecodedRealtimeRequestBody`).
    ///
    /// A question names no bundle identifier, so nothing else ties Apple's signature to the app. Only a local store, which sells one app,
    /// may lack the number, and states 0 then.
    ///
    /// - Parameter number: The number of the question.
    package func app(asking number: Int64, about product: String, from origin: Origin) -> App? {
        if let app = all.first(where: { $0.appAppleIdentifier == number }) { return app }
        guard origin != .appleProduction, origin != .appleSandbox else { return nil }
        return all.first { app in
            (app.appAppleIdentifier == nil || number == 0) && app.catalog.product(product) != nil
        }
    }
}

extension LedgerTransaction {
    /// The facts about the subscription of a transaction at the first origin of the App Store with a redeemed one.
    ///
    /// - Parameter identifier: The original transaction.
    package func retentionOwnership(
        ofTransaction identifier: String, in app: String, at moment: Timestamp
    ) throws -> RetentionFacts.Ownership {
        for origin in Origin.allCases where origin.store == .appStore {
            let key = TransactionKey(app: app, origin: origin, identifier: identifier)
            let ownership = try retentionOwnership(of: key, at: moment)
            if ownership.isRedeemed { return ownership }
        }
        return RetentionFacts.Ownership(isRedeemed: false)
    }

    /// The facts about a subscription whose customer may cancel it.
    ///
    /// - Parameter key: Its original transaction.
    package func retentionOwnership(
        of key: TransactionKey, at moment: Timestamp
    ) throws -> RetentionFacts.Ownership {
        let apps = try apps
        guard apps[key.app] != nil else { return RetentionFacts.Ownership(isRedeemed: false) }
        let owner: Int64? = try database.value(
            "SELECT owner_id FROM claim WHERE transaction_id = $1 AND origin = $2 AND app = $3 AND owner_id IS NOT NULL",
            key.sqlValues(apps))
        guard let owner else { return RetentionFacts.Ownership(isRedeemed: false) }
        let bought = try ReadingRecords(database: database).transactions(ofPurchase: key, apps, of: owner)
            .sorted { $0.isEarlier(than: $1) }
        let current = PurchasePeriod.inEffect(bought.map(PurchasePeriod.init), at: moment).last
        let first = bought.compactMap { $0.facts.date(.originalPurchaseDate) }.min() ?? bought.first?.purchaseDate
        return RetentionFacts.Ownership(
            isRedeemed: !bought.isEmpty, product: current?.productIdentifier,
            storefront: bought.last { $0.facts[.storefront] != nil }?.facts.text(.storefront),
            age: first.map { max(0, moment.secondsSince1970 - $0.secondsSince1970) },
            isTrial: current?.terms.isTrial,
            isFamilyShared: current.flatMap { $0.terms.ownership == nil ? nil : $0.terms.isFamilyShared })
    }
}
