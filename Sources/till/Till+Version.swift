extension Till {
    /// The version of Till. `till --version` prints it, and the packages and manual pages take it from there.
    static let version = "0.1.0"
}
