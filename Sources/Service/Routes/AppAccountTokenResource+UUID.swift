import Foundation
import Wire

extension AppAccountTokenResource {
    init(_ token: UUID) {
        self.init(appAccountToken: token.uuidString.lowercased())
    }
}
