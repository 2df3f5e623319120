import HTTPSupport
import Proofs

/// The body of a validation request, as far as Till reads it.
package struct CordovaRequest: Hashable, Sendable {
    /// The kind of proof, by the name of the protocol.
    package enum Kind: String, CaseIterable, Sendable {
        /// One signed transaction of StoreKit 2.
        case signedTransaction = "apple-sk2"
        /// A whole app receipt.
        case appReceipt = "ios-appstore"

        /// The member of `transaction` that contains the proof.
        var member: String {
            switch self {
            case .signedTransaction: "jwsRepresentation"
            case .appReceipt: "appStoreReceipt"
            }
        }
    }

    /// The maximum size of a body in bytes: a proof, and the products that the plugin adds once a day.
    static let maximumBodySize = RequestMembers.maximumBodySize

    package let kind: Kind
    /// The identifier that the app gives: of the product, the transaction or the app. Only the proof is believed.
    package let identifier: String?
    /// The bytes of the text that contains the proof.
    package let proof: [UInt8]
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
        let proof = try transaction.optionalText(kind.member, upTo: ProofVerifier.maximumTextSize) ?? ""
        guard !proof.isEmpty else { throw members.wrong("transaction/\(kind.member)", "a proof of purchase") }
        self.proof = Array(proof.utf8)
        let additional = try members.object("additionalData")
        username = try additional?.optionalText("applicationUsername").flatMap { $0.isEmpty ? nil : $0 }
        obfuscatedUsername = try additional?.optionalText("obfuscatedUsername")
    }

    private static func kind(_ name: String) -> Kind? {
        Kind.allCases.first { $0.rawValue.utf8.elementsEqual(name.utf8) }
    }
}

extension RequestMembers {
    /// Returns an object, or nil if it is missing or null.
    fileprivate func object(_ name: String) throws(Problem) -> RequestMembers? {
        switch object[name] {
        case nil, .null: return nil
        case .object(let object): return RequestMembers(object)
        default: throw wrong(name, "an object")
        }
    }
}
