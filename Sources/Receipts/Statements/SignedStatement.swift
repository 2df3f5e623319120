import Signatures
import StrictJSON

/// What a store states before it signs it: the fields of one of Apple's payloads.
public struct SignedStatement: Sendable {
    let fields: JSONObject

    /// The JWS in compact form.
    ///
    /// - Parameter chain: The signer's certificate first, the root last.
    public func signed(with key: PrivateKey, chain: [Certificate]) throws -> String {
        try SignedJSON.sign(.object(fields), with: key, chain: chain)
    }
}
