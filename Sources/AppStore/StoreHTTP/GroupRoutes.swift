import HTTPSupport
import Hummingbird

/// The endpoints of groups and seats (App Store Server API, `/groups`). As at Apple, only the sandbox has them.
extension ServerAPIRoutes {
    func addGroups(to group: RouterGroup<ServiceContext>) {
        read("v1/currentGroups/:id", group) { call, books in try books.customerGroups(call.text("id")) }
        read("v1/group/:id", group) { call, books in
            try books.groupMembers(
                call.text("id"), limit: call.query("limit"), paginationToken: call.query("paginationToken"))
        }
        read("v1/transactions/:id/seats", group) { call, books in try books.seatInfo(call.text("id")) }
        answer(.post, "v1/transactions/:id/seats", group) { call, books in
            ["seatClaimId": try books.claimSeat(call.text("id"), call.body())]
        }
        write(.delete, "v1/transactions/:id/seats/:claim", group) { call, books in
            try books.unclaimSeat(call.text("claim"), of: call.text("id"))
        }
        write(.post, "v1/transactions/:id/seats/:claim/associate", group) { call, books in
            try books.associateSeat(call.text("claim"), of: call.text("id"), call.body())
        }
    }
}
