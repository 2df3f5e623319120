import Proofs

/// The way back to a customer's page.
struct CustomerCrumb {
    let user: User

    var html: HTML {
        p {
            a(.href(.customer(user))) {
                Phrase("Customer", "고객"); plain(" ")
                data(user.name)
            }
        }
    }
}
