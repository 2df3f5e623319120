/// A store's unsigned statement: the fields of one of Apple's payloads.
public struct SignedStatement: Sendable {
    let fields: JSONObject

    /// Signs the statement and returns the JWS in compact form.
    ///
    /// - Parameter chain: The certificates, from the signer's to the root.
    public func signed(with key: PrivateKey, chain: [Certificate]) throws -> String {
        try SignedJSON.sign(.object(fields), with: key, chain: chain)
    }
}
