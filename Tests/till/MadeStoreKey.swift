/// The output of `till store keys --json`.
struct MadeStoreKey: Decodable {
    let keyId: String
    let issuerId: String
    /// The path of the private key's file.
    let privateKey: String
}
