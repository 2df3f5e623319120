import Catalog
import Commerce
import Receipts
import Signatures
import StrictJSON

/// What fuzzing feeds: the readers of what strangers send. The corpus of each has a folder of its name.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// The container of an app receipt, and the payload that is read once a signature has held.
    case receipt
    /// A JWS in compact form, and the payload that is read once a signature has held.
    case signedJSON = "signed-json"
    /// A StoreKit configuration file.
    case storeKitConfiguration = "storekit"

    /// Feeds one input, and stops the process when a promise is broken: above all, when an input is taken for a proof that
    /// nobody signed.
    public func run(_ input: [UInt8], with signers: Signers) {
        switch self {
        case .receipt:
            precondition(!signers.accepts(input), "an app receipt nobody signed is accepted")
            var receipt = AppReceipt.blank
            guard (try? receipt.read(payload: input)) != nil else { return }
            signers.answerAsVerifyReceipt(payload: input)
        case .signedJSON:
            precondition(!signers.accepts(input), "a JWS nobody signed is accepted")
            signers.verifySigned(payload: input)
        case .storeKitConfiguration:
            _ = try? StoreKitConfiguration(json: input, file: "input")
            guard let value = try? JSONParser.parse(input) else { return }
            let text = value.compactText
            precondition(
                (try? JSONParser.parse(Array(text.utf8)))?.compactText == text, "JSON is written otherwise than read")
        }
    }
}
