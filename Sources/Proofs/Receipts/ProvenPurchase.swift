import Foundation

/// A purchase that a verified proof states, independent of the proof's form.
public struct ProvenPurchase: Hashable, Sendable {
    /// The identifier in the ledger. It differs from the stated one in proofs of Xcode (see `XcodeIdentifier`), and in those of Google
    /// Play (see `PurchaseTokenNames`).
    public private(set) var transactionIdentifier: String
    /// The first purchase of the same product. If the proof names none, the transaction itself.
    public private(set) var originalTransactionIdentifier: String
    public let productIdentifier: String
    public private(set) var quantity: Int
    public let purchaseDate: Timestamp
    /// The date on which Apple revoked the purchase (refund or end of family sharing). Nil if the purchase is not
    /// revoked.
    public private(set) var revocationDate: Timestamp?
    /// The reason for the revocation in Apple's numbers (`revocationReason`). Nil if the proof states none.
    public private(set) var revocationReason: Int?
    /// The expiration date. Nil if the proof states none. The period that replaces an upgraded one ends it earlier.
    public private(set) var expiresDate: Timestamp?
    /// The account token that the app gave to the purchase. Nil in app receipts, and for a placeholder, which names nobody.
    public let appAccountToken: UUID?
    public private(set) var facts: TransactionFacts

    /// The type of the product that the proof states or implies. Only a subscription ends.
    public var productType: ProductType? {
        facts.text(.type).flatMap(ProductType.init) ?? expiresDate.map { _ in .autoRenewableSubscription }
    }

    /// - Parameter revocationReason: The reason in Apple's numbers.
    package init(
        transactionIdentifier: String, originalTransactionIdentifier: String, productIdentifier: String, quantity: Int,
        purchaseDate: Timestamp, revocationDate: Timestamp?, revocationReason: Int?, expiresDate: Timestamp?,
        appAccountToken: UUID?, facts: TransactionFacts
    ) {
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.productIdentifier = productIdentifier
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.revocationDate = revocationDate
        self.revocationReason = revocationReason
        self.expiresDate = expiresDate
        self.appAccountToken = appAccountToken
        self.facts = facts
    }

    init(_ purchase: InAppPurchase) {
        self.init(
            transactionIdentifier: purchase.transactionIdentifier,
            originalTransactionIdentifier: purchase.originalTransactionIdentifier ?? purchase.transactionIdentifier,
            productIdentifier: purchase.productIdentifier, quantity: purchase.quantity,
            purchaseDate: purchase.purchaseDate, revocationDate: purchase.cancellationDate, revocationReason: nil,
            expiresDate: purchase.expiresDate, appAccountToken: nil, facts: TransactionFacts(purchase))
    }

    public init(_ transaction: JWSTransactionDecodedPayload) {
        let facts = transaction.facts
        self.init(
            transactionIdentifier: transaction.transactionId,
            originalTransactionIdentifier: transaction.originalTransactionId,
            productIdentifier: transaction.productId, quantity: transaction.quantity,
            purchaseDate: transaction.purchaseDate, revocationDate: transaction.revocationDate,
            revocationReason: transaction.revocationReason.map { Int($0) },
            expiresDate: facts.date(.expiresDate),
            appAccountToken: UUID(accountToken: facts.text(.appAccountToken)), facts: facts)
    }

    /// The purchases of the products in a signed purchase of Google Play, which has one token for all.
    ///
    /// - Parameter names: The ledger's names of tokens; nil to identify the purchases by the token, for its holder alone.
    static func all(of purchase: GooglePlayPurchase, named names: PurchaseTokenNames?) -> [ProvenPurchase] {
        let products = purchase.productIdentifiers
        let name = names?.name(of: purchase.purchaseToken) ?? purchase.purchaseToken
        return products.enumerated().map { index, product in
            // Each product is a purchase of its own, with the identifier that Google's answer would give it. The base of a subscription
            // comes first.
            let isMain = products.count == 1 || index == 0 && purchase.autoRenewing != nil
            let transaction = GooglePlayLines.original(of: isMain ? "" : product, in: name)
            return ProvenPurchase(
                transactionIdentifier: transaction, originalTransactionIdentifier: transaction,
                productIdentifier: product,
                quantity: purchase.quantity, purchaseDate: purchase.purchaseTime, revocationDate: nil,
                revocationReason: nil, expiresDate: nil,
                appAccountToken: UUID(accountToken: purchase.obfuscatedAccountId), facts: TransactionFacts(purchase))
        }
    }

    /// The purchase of a product that is rented from its purchase on, and does not renew.
    package func rented(for period: RentalPeriod) -> ProvenPurchase {
        var purchase = self
        let end = period.end(from: purchaseDate)
        purchase.expiresDate = end
        purchase.facts[.isRental] = .init(true)
        purchase.facts[.type] = .text(ProductType.nonRenewingSubscription.rawValue)
        purchase.facts[.expiresDate] = .init(end)
        return purchase
    }

    /// The purchase after its store has taken it back.
    ///
    /// - Parameter reason: The reason in Apple's numbers.
    package func revoked(at date: Timestamp, reason: Int) -> ProvenPurchase {
        var purchase = self
        (purchase.revocationDate, purchase.revocationReason) = (date, reason)
        return purchase
    }

    /// The purchase with money that was paid back.
    package func stating(_ refund: StatedRefund) -> ProvenPurchase {
        var purchase = self
        purchase.facts.state(refund)
        return purchase
    }

    /// The purchase with who has voided it and why, in Google's numbers.
    package func stating(voidedBy source: Int?, reason: Int) -> ProvenPurchase {
        var purchase = self
        purchase.facts.state(voidedBy: source, reason: reason)
        return purchase
    }

    /// The purchase with the units that remain of it.
    package func with(quantity: Int) -> ProvenPurchase {
        var purchase = self
        purchase.quantity = quantity
        return purchase
    }

    /// The purchase in a proof of Xcode, with identifiers that no other purchase has.
    ///
    /// - Parameter certificate: The SHA-256 of the signer's certificate.
    func identified(inXcodeBy certificate: [UInt8]) -> ProvenPurchase {
        func identifier(_ stated: String, _ date: Timestamp) -> String {
            XcodeIdentifier.identifier(stated, purchasedAt: date, certificate: certificate)
        }
        var purchase = self
        let isOriginal = originalTransactionIdentifier.hasSameBytes(as: transactionIdentifier)
        let originalDate = isOriginal ? nil : facts.date(.originalPurchaseDate)
        purchase.transactionIdentifier = identifier(transactionIdentifier, purchaseDate)
        purchase.originalTransactionIdentifier = identifier(
            originalTransactionIdentifier, originalDate ?? purchaseDate)
        return purchase
    }
}

/// The identifiers of the transactions of StoreKit testing in Xcode.
///
/// Xcode counts them from 0 in each simulator, and again after each reset. So a transaction of Xcode is its identifier with the
/// second of the purchase and the certificate of the Mac: `0-1790000000-1a2b3c4d5e6f7081`.
enum XcodeIdentifier {
    /// The number of bytes of the certificate's SHA-256 in an identifier.
    private static let digestLength = 8

    /// - Parameters:
    ///   - stated: The identifier that Xcode states.
    ///   - purchaseDate: Only its second counts, because app receipts state no fraction.
    ///   - certificate: The SHA-256 of the signer's certificate.
    static func identifier(_ stated: String, purchasedAt purchaseDate: Timestamp, certificate: [UInt8]) -> String {
        "\(stated)-\(purchaseDate.secondsSince1970)-\(certificate.prefix(digestLength).hexadecimal)"
    }

    /// The identifier that Xcode states.
    fileprivate static func stated(_ identifier: String) -> String {
        let parts = identifier.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count > 2, parts.last?.utf8.count == 2 * digestLength else { return identifier }
        // The second of a purchase before 1970 has a hyphen of its own.
        let isBefore1970 = parts[parts.count - 3].isEmpty
        return parts.dropLast(isBefore1970 ? 3 : 2).joined(separator: "-")
    }
}

extension Origin {
    /// The identifier by which an app knows a transaction.
    public func statedIdentifier(_ identifier: String) -> String {
        self == .xcode ? XcodeIdentifier.stated(identifier) : identifier
    }
}
