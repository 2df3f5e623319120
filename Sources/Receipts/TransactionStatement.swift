import Commerce
import Signatures
import StrictJSON

/// What a store states of a transaction before it signs it (App Store Server API, `JWSTransactionDecodedPayload`).
public struct TransactionStatement: Sendable {
    private let bundleIdentifier: String
    private let payment: Payment
    private let purchase: PaymentTransaction.Purchase
    private let type: ProductType
    private let environment: AppStoreEnvironment
    private let storefront: Storefront
    /// Apple's number for the account's download of the app.
    private let appTransactionIdentifier: String
    private let signedDate: Timestamp

    public init(
        bundleIdentifier: String,
        payment: Payment,
        purchase: PaymentTransaction.Purchase,
        type: ProductType,
        environment: AppStoreEnvironment,
        storefront: Storefront,
        appTransactionIdentifier: String,
        signedDate: Timestamp
    ) {
        self.bundleIdentifier = bundleIdentifier
        self.payment = payment
        self.purchase = purchase
        self.type = type
        self.environment = environment
        self.storefront = storefront
        self.appTransactionIdentifier = appTransactionIdentifier
        self.signedDate = signedDate
    }

    /// The signed transaction, in the compact form of JWS.
    ///
    /// - Parameter chain: The signer's certificate first, the root last.
    public func signed(with key: PrivateKey, chain: [Certificate]) throws -> String {
        try SignedJSON.sign(
            .object([
                "transactionId": .string(purchase.transactionIdentifier),
                "originalTransactionId": .string(purchase.originalTransactionIdentifier),
                "bundleId": .string(bundleIdentifier),
                "productId": .string(payment.productIdentifier),
                "purchaseDate": .integer(purchase.purchaseDate.millisecondsSince1970),
                "originalPurchaseDate": .integer(purchase.originalPurchaseDate.millisecondsSince1970),
                "quantity": .integer(payment.quantity),
                "type": .string(type.rawValue),
                "inAppOwnershipType": .string(InAppOwnershipType.purchased.rawValue),
                "signedDate": .integer(signedDate.millisecondsSince1970),
                "environment": .string(environment.rawValue),
                "transactionReason": .string(TransactionReason.purchase.rawValue),
                "storefront": .string(storefront.countryCode),
                "storefrontId": .string(storefront.identifier),
                "price": .integer(purchase.price.milliunits),
                "currency": .string(purchase.price.currency),
                "appTransactionId": .string(appTransactionIdentifier),
            ]), with: key, chain: chain)
    }
}
