/// The output of `till receipt validate --json` for an invalid proof.
struct InvalidProof: Decodable {
    let reason: String
    let step: String
    let message: String
}
