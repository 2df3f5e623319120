import Catalog
import Proofs

/// The fuzzed readers of untrusted input. Each has a folder with its name in the corpus.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// The container of an app receipt, and the payload that is read after the verification of the signature.
    case receipt
    /// A JWS in compact form, and the payload that is read after the verification of the signature.
    case signedJSON = "signed-json"
    /// The JSON text of a signed purchase of Google Play, and the object of text and signature.
    case signedPurchase = "signed-purchase"
    /// The body of a push by Pub/Sub, and the notification of Google Play in it.
    case pushedMessage = "pushed-message"
    /// An answer of the Play Developer API, and the object of a purchase token.
    case playAnswer = "play-answer"
    /// The key file of a service account of Google Cloud.
    case serviceAccount = "service-account"
    /// A StoreKit configuration file.
    case storeKitConfiguration = "storekit"

    /// Runs one input. The process stops if an invariant is violated, above all if an unsigned input is accepted as a
    /// proof.
    package func run(_ input: [UInt8], with signers: Signers) {
        switch self {
        case .receipt:
            precondition(!signers.accepts(input), "an unsigned app receipt is accepted")
            var receipt = AppReceipt()
            guard (try? receipt.read(payload: input)) != nil else { return }
            signers.answerAsVerifyReceipt(payload: input)
        case .signedJSON:
            precondition(!signers.accepts(input), "an unsigned JWS is accepted")
            signers.verifySigned(payload: input)
        case .signedPurchase:
            precondition(!signers.acceptsPurchase(input), "an unsigned purchase is accepted")
            signers.verifySigned(purchase: input)
        case .pushedMessage:
            let message = try? PubSubMessage(json: input)
            guard let notification = try? GooglePlayNotification(json: message?.data ?? input) else { return }
            precondition(
                !notification.content.contains("\"purchaseToken\":"), "a notification is recorded with its token")
        case .playAnswer: Self.readPlayAnswer(input)
        case .serviceAccount:
            guard let account = try? GoogleServiceAccount(json: input) else { return }
            precondition(account.tokenURL.mayReceiveSecrets, "an assertion would be sent in the clear")
            precondition((try? account.assertion(at: Self.moment)) != nil, "an account cannot sign")
        case .storeKitConfiguration:
            _ = try? StoreKitConfiguration(json: input, file: "input")
            guard let value = try? JSONParser.parse(input) else { return }
            let text = value.compactText
            precondition(
                (try? JSONParser.parse(Array(text.utf8)))?.compactText == text, "JSON is not written as it was read")
        }
    }

    private static let moment = Timestamp(millisecondsSince1970: 1_780_000_000_000)
    private static let names = PurchaseTokenNames(key: [])
    /// The states in which something may be owned.
    private static let owning: Set<GooglePlayState> = [.purchased, .active, .inGracePeriod, .canceled]

    /// Reads an input as each answer of the API, and states what it says.
    private static func readPlayAnswer(_ input: [UInt8]) {
        _ = try? GooglePlayToken(json: input)
        _ = try? VoidedGooglePlayPurchases(input)
        let orders = [try? GooglePlayOrder(input, identifier: "GPA.1")].compactMap(\.self)
        let answers = [
            try? GooglePlayAnswer(subscription: input, about: "t", of: "b"),
            try? GooglePlayAnswer(product: input, about: "t", of: "b"),
        ]
        for answer in answers.compactMap(\.self) {
            let statement = answer.statement(
                .init(realm: .google, askedAt: moment, named: names, orders: orders))
            for purchase in statement.purchases.map(\.purchase) {
                let isOwned = purchase.revocationDate == nil && purchase.expiresDate.map { $0 > moment } ?? true
                precondition(!isOwned || owning.contains(statement.state), "a state without access grants something")
                precondition(purchase.quantity > 0, "a purchase has no units")
                precondition(
                    purchase.originalTransactionIdentifier.hasPrefix(PurchaseTokenNames.prefix), "a token is told")
            }
        }
    }
}
