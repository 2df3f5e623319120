import Proofs

/// The proof in a receipt request (`fetch_token`), in one of its three forms.
package enum FetchToken: Hashable, Sendable {
    /// A signed transaction of StoreKit 2, as the bytes of the JWS.
    case transaction([UInt8])
    /// An app receipt in base64.
    case appReceipt([UInt8])
    /// The transactions that an app collects in Xcode's test environment.
    case xcode(XcodeReceipt)

    /// The maximum size of a token in bytes. A larger proof is none of Apple's.
    package static let maximumSize = ProofVerifier.maximumTextSize

    /// - Throws: `ProofRefusal` with the reason `tooLarge` or `encodingInvalid`.
    package init(_ text: String) throws(ProofRefusal) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumSize else { throw ProofRefusal(.tooLarge) }
        if Self.isSignedJSON(bytes) {
            self = .transaction(bytes)
            return
        }
        guard let decoded = Base64.decode(bytes), let first = decoded.first else {
            throw ProofRefusal(.encodingInvalid)
        }
        switch first {
        case 0x30: self = .appReceipt(bytes)
        case UInt8(ascii: "{"): self = .xcode(try XcodeReceipt(decoded))
        default: throw ProofRefusal(.encodingInvalid)
        }
    }

    /// The proofs to redeem, in their order.
    package var proofs: [[UInt8]] {
        switch self {
        case .transaction(let proof), .appReceipt(let proof): [proof]
        case .xcode(let receipt): receipt.transactions
        }
    }

    /// True for the compact form of a JWS: three parts, the first of which is an object in base64.
    static func isSignedJSON(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: Array("eyJ".utf8)) && bytes.count { $0 == UInt8(ascii: ".") } == 2
    }
}
