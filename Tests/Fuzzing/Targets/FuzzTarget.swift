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
        case .storeKitConfiguration:
            _ = try? StoreKitConfiguration(json: input, file: "input")
            guard let value = try? JSONParser.parse(input) else { return }
            let text = value.compactText
            precondition(
                (try? JSONParser.parse(Array(text.utf8)))?.compactText == text, "JSON is not written as it was read")
        }
    }
}
