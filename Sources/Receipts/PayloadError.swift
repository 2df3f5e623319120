/// Why the signed JSON of a JWS is not what its kind asks for.
struct PayloadError: Error, Equatable {
    /// The field and what it should have been.
    let message: String
}
