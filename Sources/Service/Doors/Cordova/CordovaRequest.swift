import Entitlements
import HTTPSupport
import Ledger
import Proofs
import Vocabulary

/// The body of a validation request, as far as Till reads it.
package struct CordovaRequest: Hashable, Sendable {
    /// The kind of proof, by the name of the protocol.
    package enum Kind: String, CaseIterable, Sendable {
        /// One signed transaction of StoreKit 2.
        case signedTransaction = "apple-sk2"
        /// A whole app receipt.
        case appReceipt = "ios-appstore"
        /// A purchase of Google Play: signed, or its purchase token.
        case googlePlay = "android-playstore"

        /// The member of `transaction` that contains the proof.
        var member: String {
            switch self {
            case .signedTransaction: "jwsRepresentation"
            case .appReceipt: "appStoreReceipt"
            case .googlePlay: "receipt"
            }
        }

        /// The signed proof, as `ProofVerifier` reads it; nil if the app has sent none.
        fileprivate func proof(in transaction: RequestMembers) throws(Problem) -> [UInt8]? {
            func text(_ member: String, upTo maximumSize: Int) throws(Problem) -> String? {
                try transaction.optionalText(member, upTo: maximumSize).flatMap { $0.isEmpty ? nil : $0 }
            }
            guard self == .googlePlay else {
                return try text(member, upTo: ProofVerifier.maximumTextSize).map { Array($0.utf8) }
            }
            guard let data = try text(member, upTo: SignedPurchase.maximumSize),
                let signature = try text("signature", upTo: SignedPurchase.maximumSignatureSize)
            else { return nil }
            return SignedPurchase(data: Array(data.utf8), signature: Array(signature.utf8)).json.compactBytes
        }
    }

    /// The maximum size of a body in bytes: a proof, and the products that the plugin adds once a day.
    static let maximumBodySize = RequestMembers.maximumBodySize

    package let kind: Kind
    /// The identifier that the app gives: of the product, the transaction or the app. Only the proof is believed.
    package let identifier: String?
    /// The bytes of the proof: the text of the App Store, or the JSON object of a `SignedPurchase` or a `GooglePlayToken`.
    package let proof: [UInt8]
    /// The purchase token of Google Play, as the bytes of a `GooglePlayToken`; nil if the app has sent none.
    package let purchaseToken: [UInt8]?
    /// The customer's id (`store.applicationUsername`); nil if the app has not set one.
    package let username: String?
    /// The account token that the plugin derives from the id; nil for none.
    package let obfuscatedUsername: String?

    /// - Throws: `Problem` with the code `bodyInvalid`.
    package init(_ body: [UInt8]) throws(Problem) {
        let members = try RequestMembers(body)
        guard let transaction = try members.object("transaction"),
            let kind = try transaction.optionalText("type").flatMap(Self.kind)
        else {
            let names = Kind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
            throw members.wrong("transaction", "an object with the type \(names)")
        }
        self.kind = kind
        identifier = try transaction.optionalText("id")
        purchaseToken = kind == .googlePlay ? try Self.purchaseToken(in: transaction) : nil
        guard let proof = try kind.proof(in: transaction) ?? purchaseToken else {
            throw members.wrong("transaction/\(kind.member)", "a proof of purchase")
        }
        self.proof = proof
        let additional = try members.object("additionalData")
        username = try additional?.optionalText("applicationUsername").flatMap { $0.isEmpty ? nil : $0 }
        obfuscatedUsername = try additional?.optionalText("obfuscatedUsername")
    }

    private static func purchaseToken(in transaction: RequestMembers) throws(Problem) -> [UInt8]? {
        let name = "purchaseToken"
        let text = try transaction.optionalText(name, upTo: GooglePlayPurchase.maximumTokenSize) ?? ""
        if text.isEmpty { return nil }
        do { return try GooglePlayToken(purchaseToken: text).json.compactBytes } catch {
            throw transaction.wrong("transaction/\(name)", "a purchase token of Google Play")
        }
    }

    private static func kind(_ name: String) -> Kind? {
        Kind.allCases.first { $0.rawValue.utf8.elementsEqual(name.utf8) }
    }
}

/// The identity of a customer to whom the app gives no id.
///
/// It is the App Store's number for the app and the customer's account (`appTransactionId`). A proof without one identifies its
/// customer by the earliest purchase that stays in receipts.
struct ProofIdentity: Hashable, Sendable {
    let user: User

    /// - Parameters:
    ///   - purchases: The purchases of a verified proof.
    ///   - app: The bundle identifier of the app.
    /// - Returns: Nil without a purchase.
    init?(of purchases: [ProvenPurchase], app: String, origin: Origin) {
        let lasting = purchases.filter { $0.facts.text(.type).flatMap(ProductType.init) != .consumable }
        guard let first = (lasting.isEmpty ? purchases : lasting).min(by: Self.isEarlier) else { return nil }
        // Xcode states the same number for each customer.
        let account = origin == .xcode ? nil : first.facts.text(.appTransactionId)
        let parts = [
            app, origin.rawValue, account == nil ? "originalTransactionId" : "appTransactionId",
            account ?? first.originalTransactionIdentifier,
        ]
        let digest = DigestAlgorithm.sha256.digest(of: Array(parts.joined(separator: "\n").utf8))
        guard let user = User(proofCustomer: digest.prefix(16).hexadecimal) else { return nil }
        self.user = user
    }

    private static func isEarlier(_ left: ProvenPurchase, _ right: ProvenPurchase) -> Bool {
        func order(_ purchase: ProvenPurchase) -> (Timestamp, ByteKey) {
            (
                purchase.facts.date(.originalPurchaseDate) ?? purchase.purchaseDate,
                ByteKey(purchase.originalTransactionIdentifier)
            )
        }
        return order(left) < order(right)
    }
}

/// The validation of a proof: redeems it, and answers with the purchases of its customer.
extension DoorServices {
    /// Returns the answer to a proof that is accepted (`SuccessPayload`).
    ///
    /// - Parameter newcomers: The caller's allowance for customers without a purchase; nil for no limit.
    /// - Throws: `RedemptionError` for a refused proof; `Problem` for an invalid request.
    func answer(
        to request: CordovaRequest,
        from caller: Caller,
        _ newcomers: NewcomerAllowance?
    ) async throws -> JSONValue {
        guard let app = caller.app else { throw Problem.unexpected }
        let named = try request.username.map { try customer($0).user }
        // A statement of Google Play counts more than a signature, which says nothing about refunds and paid periods.
        let token = mayAsk(about: app) ? request.purchaseToken : nil
        let presented = try await shared.door.present(
            RedemptionRequest(
                token ?? request.proof, for: named, by: caller.actor, of: caller.app, seeing: caller.limitingApp,
                newcomers: newcomers, withItems: false))
        let (purchases, origin) = (presented.statement.purchases, presented.statement.origin)
        let owner = try await customer(named, of: request, purchases, from: origin, app: app, by: caller)
        if let owner, !purchases.isEmpty {
            let lines = try await shared.door.redeem(presented, for: owner).decision.lines
            let types = types(of: lines, purchases)
            if let refusal = CordovaRefusal.reason(lines, types: types) { throw refusal }
        }
        let moment = if let owner { try await entitlements.now(of: owner) } else { entitlements.clock.now() }
        var collection = PurchaseCollection()
        var all: [RedeemedTransaction] = []
        collection.presented = Set(purchases.map { ByteKey($0.transactionIdentifier) })
        collection.presentedToken = presented.statement.purchaseToken
        if let owner, let history = try await entitlements.history(of: owner) {
            let showsAll = named != nil || history.user.isProofCustomer
            let originals = Set(purchases.map { ByteKey($0.originalTransactionIdentifier) })
            collection.renewals = history.renewals
            all = history.transactions.filter { transaction in
                guard transaction.app?.hasSameBytes(as: app) ?? false else { return false }
                // The customer has logged out of the app: the proof does not show the other purchases.
                return showsAll || originals.contains(ByteKey(transaction.originalTransactionIdentifier))
            }
            let products = Set(purchases.map { ByteKey($0.productIdentifier) })
            collection.transactions = all.filter { transaction in
                // The plugin has a receipt for each purchase at Google Play, and an answer about each. So anybody who presents a cheap
                // purchase as the customer's does not read the others.
                !origin.store.hasReceiptOfEachPurchase || !transaction.origin.store.hasReceiptOfEachPurchase
                    || products.contains(ByteKey(transaction.productIdentifier))
                    || originals.contains(ByteKey(transaction.originalTransactionIdentifier))
            }
            collection.types = types(of: collection.transactions.map(\.productIdentifier))
        }
        let receipt: AppReceipt? =
            if case .appReceipt(let receipt)? = presented.statement.signed?.content { receipt } else { nil }
        return .object([
            "ok": .bool(true),
            "data": .object([
                // The plugin keeps the purchases under this identifier, and has one receipt for each purchase of Google Play.
                "id": .string(origin.store.hasReceiptOfEachPurchase ? purchases.first?.productIdentifier ?? app : app),
                "latest_receipt": .bool(true),
                "transaction": .object([
                    "type": .string(request.kind.rawValue),
                    "id": request.identifier.map { .string($0) },
                    "original_application_version": receipt?.originalApplicationVersion.map { .string($0) },
                    "original_purchase_date_ms": receipt?.originalPurchaseDate.map {
                        .string(String($0.millisecondsSince1970))
                    },
                ]),
                "collection": .array(collection.purchases(at: moment).map(\.json)),
                "ineligible_for_intro_price": .array(
                    productsWithoutIntroductoryOffer(all, app).map { .string($0) }),
                "date": .string(moment.rfc3339),
            ]),
        ])
    }

    /// The subscriptions of the app's catalog in the groups of which the customer has used an introductory offer.
    private func productsWithoutIntroductoryOffer(_ transactions: [RedeemedTransaction], _ app: String) -> [String] {
        let groups = entitlements.catalogs[app]?.subscriptionGroups ?? [:]
        let eligibility = IntroEligibility(groups.keys.map(\.text), of: transactions, groups: groups)
        return eligibility.products.filter { $0.value == false }.keys.sorted().map(\.text)
    }
}

/// The customer of a validation request.
///
/// The app gives an id, or none. Anybody can state any id, so an id never takes an account token: only back ends do. The holder
/// of a proof acts as the customer whom only proofs identify.
extension DoorServices {
    /// Returns the customer, and makes the purchases of an unnamed customer those of the named one, unless the proof is refused.
    ///
    /// - Parameters:
    ///   - named: The customer by the id that the app gives; nil for none.
    ///   - purchases: The purchases of the proof.
    ///   - app: The bundle identifier of the app.
    /// - Returns: Nil for a proof without purchases, from an app that gives no id.
    /// - Throws: `RedemptionError.purchaseRefused` for a purchase under another id.
    func customer(
        _ named: User?,
        of request: CordovaRequest,
        _ purchases: [ProvenPurchase],
        from origin: Origin,
        app: String,
        by caller: Caller
    ) async throws -> User? {
        if let named { try await checkTokens(of: purchases, request, named) }
        let keys = purchases.map {
            TransactionKey(app: app, origin: origin, identifier: $0.originalTransactionIdentifier)
        }
        guard !keys.isEmpty else { return named }
        let owners = try await entitlements.ledger.read { try $0.owners(ofPurchases: Set(keys)) }
        let unnamed = zip(keys, purchases).compactMap { key, purchase in
            owners[key].flatMap { $0.isProofCustomer ? (user: $0, purchase: purchase) : nil }
        }
        let identity = ProofIdentity(of: purchases, app: app, origin: origin)?.user
        guard let customer = named ?? unnamed.first?.user ?? identity else { return nil }
        // A refused proof writes nothing.
        guard entitlements.accepted.origins(for: customer).contains(origin) else { return customer }
        var others: Set<User> = []
        for (user, purchase) in unnamed {
            if try await mayHave(purchase, customer, or: user, app: app) { others.insert(user) }
        }
        if named == nil, !others.isEmpty, let identity { others.insert(identity) }
        for other in others where other != customer {
            let moment = try await entitlements.now(of: other)
            _ = try await entitlements.ledger.write {
                try $0.logIn(other, as: customer, by: caller.actor, at: moment)
            }
        }
        return customer
    }

    /// True if the redemption of a purchase is not refused to a customer who is one with its owner.
    private func mayHave(
        _ purchase: ProvenPurchase,
        _ customer: User,
        or owner: User,
        app: String
    ) async throws -> Bool {
        guard entitlements.catalogs[app]?.benefit(of: purchase.productIdentifier) != nil else { return false }
        guard let token = purchase.appAccountToken else { return true }
        return try await entitlements.ledger.read {
            try $0.owner(ofAppAccountToken: token, among: [customer, owner]) != .other
        }
    }

    /// Refuses a new purchase that the app made under another id than it states now.
    private func checkTokens(of purchases: [ProvenPurchase], _ request: CordovaRequest, _ user: User) async throws {
        guard let stated = request.obfuscatedUsername.flatMap({ UsernameTokens.token($0) }) else { return }
        let derived = request.username.map { UsernameTokens.tokens(of: $0) + [UsernameTokens.digest(of: $0)] } ?? []
        for purchase in purchases {
            guard let token = UsernameTokens.token(of: purchase), token != stated, !derived.contains(token) else {
                continue
            }
            let owner = try await entitlements.ledger.read { try $0.owner(ofAppAccountToken: token, among: [user]) }
            if owner == .given { continue }
            let known = try await entitlements.transactions(of: user, identifiedBy: [purchase.transactionIdentifier])
            if known.isEmpty { throw RedemptionError.purchaseRefused(.appAccountTokenMismatch) }
        }
    }
}
