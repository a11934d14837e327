//! An attempt is lost at every call to the store and after every undo, in each way in which it can be.

use super::*;

/// Carries out requests until one is answered, whatever is lost. Gives how many calls the first of them made.
async fn until_answered(world: &World, shop: &Shop, faults: Vec<Fault>, what: &str) -> usize {
    world.script(faults);
    // Time stands still: it goes by when nobody but a lost call is waited for.
    let lost = tokio::time::timeout(Duration::from_secs(3600), request(world, shop, failure())).await;
    let calls = world.calls().len();
    world.script([]);
    let mut answers = vec![format!("{lost:?}")];
    for _ in 0..4 {
        world.advance(PAST_THE_LEASE);
        let runs = shop.runs.load(Ordering::SeqCst);
        let was_undoing = world.status().is_some_and(|status| status != Status::InFlight && status != Status::Released);
        let answer = asked(world, shop).await;
        if was_undoing {
            assert_eq!(shop.runs.load(Ordering::SeqCst), runs, "{what}: the handler ran again");
        }
        answers.push(format!("{answer:?}"));
        if answer == Answer::Failed(Some("sold out".into())) {
            check(world, shop, what).await;
            return calls;
        }
    }
    panic!("{what}: {answers:?}");
}

async fn check(world: &World, shop: &Shop, what: &str) {
    assert_eq!(world.stored().status, Status::Failed, "{what}");
    let before = (world.stored(), shop.names());
    for _ in 0..2 {
        assert_eq!(asked(world, shop).await, Answer::Failed(Some("sold out".into())), "{what}");
        assert_eq!((world.stored(), shop.names()), before, "{what}");
    }
    let effects = shop.effects.lock().unwrap().clone();
    let keys = |name: &str| {
        let keys = effects.iter().filter(|(other, _)| other == name).map(|(_, key)| key.as_str().to_owned());
        keys.collect::<std::collections::BTreeSet<_>>()
    };
    // To a callee that honours keys each of them is one effect.
    for name in ["seat", "mail", "charge", "undo charge", "undo seat"] {
        assert_eq!(keys(name).len(), 1, "{what}: {name} in {effects:?}");
    }
    let at = |name: &str| effects.iter().position(|(other, _)| other == name);
    let last = |name: &str| effects.iter().rposition(|(other, _)| other == name);
    assert!(last("charge") < at("undo charge"), "{what}: done again after it was undone: {effects:?}");
    assert!(last("undo charge") < at("undo seat"), "{what}: not in reverse: {effects:?}");
}

#[tokio::test(start_paused = true)]
async fn whatever_call_is_lost_the_next_requests_undo_everything_once() {
    let calls = until_answered(&World::new(), &Shop::default(), vec![], "nothing is lost").await;
    assert_eq!(calls, 10);
    let kinds = [
        ("dropped before", Fault::HangBefore, 1),
        ("dropped after", Fault::HangAfter, 1),
        ("reply lost", Fault::DropAfter, 1),
        ("repeated", Fault::RepeatAfterLostReply, 1),
        ("throttled", Fault::Throttle, 1),
        ("refused for good", Fault::Refuse, 100),
        ("gone for good", Fault::DropBefore, 100_000),
    ];
    for (kind, fault, count) in kinds {
        for at in 0..calls {
            let faults = [vec![Fault::None; at], vec![fault; count]].concat();
            until_answered(&World::new(), &Shop::default(), faults, &format!("{kind} at call {at}")).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_lost_after_an_undo_is_followed_by_one_that_undoes_with_the_same_key() {
    for before in 0..2 {
        let (world, shop) = (World::new(), Shop::default());
        shop.says([vec![Says::Done; before], vec![Says::Hangs]].concat());
        until_answered(&world, &shop, vec![], &format!("after undo {before}")).await;
        assert_eq!(shop.names().iter().filter(|name| name.starts_with("undo")).count(), 3);
        assert_eq!(shop.runs.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_goes_on_undoing_may_be_lost_as_well() {
    for fault in [Fault::HangBefore, Fault::HangAfter, Fault::DropAfter] {
        // Insert refused, replace, rows, two rows of what is undone, replace.
        for at in 0..6 {
            let (world, shop) = (World::new(), Shop::default());
            shop.says([Says::Later]);
            assert_eq!(asked(&world, &shop).await, Answer::Later);
            world.calls();
            let faults = [vec![Fault::None; at], vec![fault]].concat();
            let calls = until_answered(&world, &shop, faults, &format!("call {at}")).await;
            assert!(calls > at, "{calls}");
            assert_eq!(shop.runs.load(Ordering::SeqCst), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stuck_record_is_written_once_whatever_reply_is_lost() {
    for fault in [Fault::DropAfter, Fault::RepeatAfterLostReply, Fault::DropBefore] {
        let (world, shop) = (World::new(), Shop::default());
        shop.says([Says::Error]);
        // Claim, three steps in five rows, `compensating`, two rows kept for longer, and then `stuck`.
        world.script([vec![Fault::None; 13], vec![fault]].concat());
        assert_eq!(asked(&world, &shop).await, Answer::Stuck);
        let stuck = world.stored();
        assert_eq!(stuck.status, Status::Stuck);
        assert_eq!(asked(&world, &shop).await, Answer::Stuck);
        assert_eq!(world.stored(), stuck);
    }
}
