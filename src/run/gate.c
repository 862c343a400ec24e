#include "os/now.h"
#include "run/run_internal.h"

void gate_init(struct gate *gate)
{
    pthread_condattr_t attr;
    *gate = (struct gate){0};
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&gate->changed, &attr);
    pthread_condattr_destroy(&attr);
}

void gate_done(struct gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->mutex);
}

void gate_pass(struct gate *gate, uint32_t number)
{
    pthread_mutex_lock(&gate->mutex);
    gate->arrived++;
    pthread_cond_broadcast(&gate->changed);
    while (gate->opened < number)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}

void gate_open(struct gate *gate, uint32_t number)
{
    pthread_mutex_lock(&gate->mutex);
    gate->arrived = 0;
    gate->opened = number;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

bool gate_wait(struct gate *gate, uint32_t count, uint64_t timeout_ns)
{
    uint64_t due_ns = os_now_ns() + timeout_ns;
    struct timespec due = {.tv_sec = (time_t)(due_ns / NS_PER_S),
                           .tv_nsec = (long)(due_ns % NS_PER_S)};
    int late = 0;
    pthread_mutex_lock(&gate->mutex);
    while (gate->arrived < count && late == 0)
        late = pthread_cond_timedwait(&gate->changed, &gate->mutex, &due);
    bool all = gate->arrived >= count;
    pthread_mutex_unlock(&gate->mutex);
    return all;
}
