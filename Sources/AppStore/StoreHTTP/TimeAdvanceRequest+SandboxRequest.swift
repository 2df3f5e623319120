extension TimeAdvanceRequest: SandboxRequest {
    static let fields = ["by"]
}
