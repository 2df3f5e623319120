extension NotificationFaultsRequest: SandboxRequest {
    static let fields = ["faults"]
}
