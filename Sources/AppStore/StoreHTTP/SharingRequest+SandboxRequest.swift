extension SharingRequest: SandboxRequest {
    static let fields = ["account"]
}
