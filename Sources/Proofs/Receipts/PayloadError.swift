/// A mismatch between the signed JSON of a JWS and its kind.
struct PayloadError: Error, Equatable {
    /// The field and its expected value.
    let message: String
}
